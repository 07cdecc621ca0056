/** Refusals in the words of Kubernetes' own client: not all that answers does so with a Status. */
import { StatusError } from '../../machinery/status-error.ts'
import { messageOf } from '../api-errors.ts'

/** `what` is the resource that was asked for: `pods.metrics.k8s.io`. */
export function refusalText(error: unknown, what: string): string {
  if (!(error instanceof StatusError) || error.status.reason) return messageOf(error)
  if (error.code === 404) return `the server could not find the requested resource (get ${what})`
  if (error.code === 503) return `the server is currently unable to handle the request (get ${what})`
  return messageOf(error)
}
