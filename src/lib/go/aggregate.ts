/**
 * Several errors in one, as Go's Kubernetes libraries tell them (util/errors.Aggregate): each message once, in brackets
 * if there are more.
 */
export function aggregated(messages: readonly string[]): string {
  const distinct = [...new Set(messages)]
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`
}
