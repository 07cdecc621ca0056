/** The seed of a run, from `T8S_SEED` or random. Test names contain it, so that a run can be repeated. */
export const seed = Number(process.env.T8S_SEED ?? Date.now() % 1_000_000)
