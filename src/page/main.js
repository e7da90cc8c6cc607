// One section that fails must not take the others with it.
for (const [id, show] of [["head", showHead], ["thresholds", showThresholds], ["pareto", showPareto],
  ["times", showRequests], ["stages", showStages], ["table", showTable], ["gallery", showGallery]]) {
  try {
    show();
  } catch (error) {
    console.error(error);
    section(id).append(missing(`This part of the page failed: ${error.message}`));
  }
}
