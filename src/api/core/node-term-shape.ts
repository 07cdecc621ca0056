/** The Go struct of a node selector term, for error messages. */
import { list, optional, text } from '../../machinery/validation/internal-type.ts'

const requirements = list({ Key: text, Operator: text, Values: optional })

export const nodeTermShape = { MatchExpressions: requirements, MatchFields: requirements }
