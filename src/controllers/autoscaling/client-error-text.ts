/** Formats errors like client-go: not all servers respond with a Status. */
import { StatusError } from '../../machinery/status-error.ts'
import { messageOf } from '../api-errors.ts'

/** `resource` is the requested resource, such as `pods.metrics.k8s.io`. */
export function clientErrorText(error: unknown, resource: string): string {
  if (!(error instanceof StatusError) || error.status.reason) return messageOf(error)
  if (error.code === 404) return `the server could not find the requested resource (get ${resource})`
  if (error.code === 503) return `the server is currently unable to handle the request (get ${resource})`
  return messageOf(error)
}
