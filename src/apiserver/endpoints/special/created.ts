/** The answer of subresources that are posted to and give nothing back. */
import { type Status, success } from '../../../machinery/status-error.ts'

export const created = (): Status => ({ ...success(), code: 201 })
