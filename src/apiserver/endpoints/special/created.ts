/** The response of subresources that are created and return no object. */
import { type Status, success } from '../../../machinery/status-error.ts'

export const created = (): Status => ({ ...success(), code: 201 })
