/** A term of a node selector, as messages show it. */
import { list, optional, text } from '../../machinery/validation/internal-type.ts'

const requirements = list({ Key: text, Operator: text, Values: optional })

export const nodeTermShape = { MatchExpressions: requirements, MatchFields: requirements }
