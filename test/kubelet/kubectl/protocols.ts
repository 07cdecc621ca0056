/** The protocols with which a kubectl can reach containers. */
import type { KubectlProgram } from '../../support/kubectl.ts'

export interface Protocol {
  readonly name: 'SPDY' | 'WebSocket'
  readonly env: Readonly<Record<string, string>>
}

const protocol = (name: Protocol['name'], value: string): Protocol => ({
  name,
  env: { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: value, KUBECTL_PORT_FORWARD_WEBSOCKETS: value },
})

/** kubectl knows WebSockets since 1.29, for port-forward since 1.30, and tries them first since 1.31. */
export const protocolsOf = ({ minor }: KubectlProgram): readonly Protocol[] =>
  minor < 30 ? [protocol('SPDY', 'false')] : [protocol('SPDY', 'false'), protocol('WebSocket', 'true')]
