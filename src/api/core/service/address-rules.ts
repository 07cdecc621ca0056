/** Rules for addresses that traffic may be sent to. */
import type { FieldError } from '../../../machinery/validation/field-error.ts'
import { follows } from '../../../machinery/validation/field-rules.ts'
import { endpointAddress, ipAddress } from '../../../machinery/validation/names.ts'

/** An IP address that is none of the special ones: nobody may catch traffic of nodes to themselves. */
export function ordinaryAddress(ip: string, path: string): readonly FieldError[] {
  const errors = follows(ip ?? '', path, ipAddress)
  return errors.length > 0 ? errors : follows(ip, path, endpointAddress)
}
