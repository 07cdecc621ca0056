/** Parser of a port of this machine that leads to a Service. */
import { InvalidArgumentError } from 'commander'
import { mappingForm, type PortMapping, parseMapping } from '../../../network/ports/port-mapping.ts'

export function portMapping(text: string): PortMapping {
  const mapping = parseMapping(text)
  if (!mapping) throw new InvalidArgumentError(`It must be ${mappingForm}, for example 8080:web:80.`)
  return mapping
}
