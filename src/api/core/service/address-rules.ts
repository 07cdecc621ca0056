import type { FieldError } from '../../../machinery/validation/field-error.ts'
import { follows } from '../../../machinery/validation/field-rules.ts'
import { endpointAddress, ipAddress } from '../../../machinery/validation/names.ts'

/**
 * Validates an IP address that is not loopback, link-local or otherwise special, which could capture a node's traffic.
 */
export function validateEndpointAddress(ip: string, path: string): readonly FieldError[] {
  const errors = follows(ip ?? '', path, ipAddress)
  return errors.length > 0 ? errors : follows(ip, path, endpointAddress)
}
