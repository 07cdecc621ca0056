/** The bounds of `count` buckets, each `factor` times the one before. */
export const exponential = (start: number, factor: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => Number((start * factor ** i).toPrecision(12)))
