/** Variables that name the Services of a pod's namespace, as Docker's links did: `WEB_SERVICE_HOST`, `WEB_PORT` … */
import type { Service } from '../../client/kinds.ts'

/** The variables of Services; those without an address have none. */
export function serviceVariables(services: readonly Service[]): Map<string, string> {
  const variables = new Map<string, string>()
  for (const service of services) addVariables(service, variables)
  return variables
}

function addVariables({ metadata, spec }: Service, variables: Map<string, string>): void {
  const { clusterIP, ports = [] } = spec ?? {}
  const [first] = ports
  if (!clusterIP || clusterIP === 'None' || !first) return
  const name = variableName(metadata.name ?? '')
  variables.set(`${name}_SERVICE_HOST`, clusterIP)
  variables.set(`${name}_SERVICE_PORT`, String(first.port))
  for (const { name: portName, port } of ports)
    if (portName) variables.set(`${name}_SERVICE_PORT_${variableName(portName)}`, String(port))
  const host = clusterIP.includes(':') ? `[${clusterIP}]` : clusterIP
  for (const [i, { port, protocol = 'TCP' }] of ports.entries()) {
    const lower = protocol.toLowerCase()
    if (i === 0) variables.set(`${name}_PORT`, `${lower}://${host}:${port}`)
    const prefix = `${name}_PORT_${port}_${protocol.toUpperCase()}`
    variables.set(prefix, `${lower}://${host}:${port}`)
    variables.set(`${prefix}_PROTO`, lower)
    variables.set(`${prefix}_PORT`, String(port))
    variables.set(`${prefix}_ADDR`, clusterIP)
  }
}

const variableName = (name: string): string => name.toUpperCase().replaceAll('-', '_')
