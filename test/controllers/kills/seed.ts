/**
 * The seed of a run: that of the environment (`T8S_SEED`), or another one each time. It stands in the names of tests,
 * so that a run can be done again.
 */
export const seed = Number(process.env.T8S_SEED ?? Date.now() % 1_000_000)
