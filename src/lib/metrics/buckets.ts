/** Buckets of histograms. */

/** Returns `count` bounds, starting with `start`, each `factor` times the previous one. */
export const exponentialBuckets = (start: number, factor: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => Number((start * factor ** at).toPrecision(12)))

/** The default buckets of Prometheus' client libraries. */
export const defaultBuckets: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
