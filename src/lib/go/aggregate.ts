/** Joins errors as util/errors.Aggregate of Kubernetes: distinct messages, in brackets if there are several. */
export function aggregated(messages: readonly string[]): string {
  const distinct = [...new Set(messages)]
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`
}
