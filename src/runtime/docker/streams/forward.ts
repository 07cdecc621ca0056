/** Connects clients with ports of pods. */
import type { Duplex } from 'node:stream'
import { RpcError } from '../../../lib/grpc/grpc-error.ts'
import { forwardPort } from '../../containers/streams/forward-port.ts'
import { usesHostNetwork } from '../../sandboxes/sandbox.ts'
import type { DockerParts } from '../docker-parts.ts'
import { addressesOf } from '../pods/messages.ts'
import type { InspectedSandbox } from '../pods/pods.ts'
import { isLocalProcess } from './local-process.ts'

/** Resolves when both sides are closed. */
export async function forwardTo({ pods }: DockerParts, sandboxId: string, port: number, client: Duplex): Promise<void> {
  return forwardPort(networkOf(await pods.sandbox(sandboxId)), port, client)
}

/** With an engine of another machine, programs that listen on 127.0.0.1 are not reached. */
function networkOf({ id, config, inspection }: InspectedSandbox): Parameters<typeof forwardPort>[0] {
  if (usesHostNetwork(config)) return { host: 'localhost' }
  const { Pid: pid } = inspection.State
  if (isLocalProcess(pid, id)) return { namespaceFile: `/proc/${pid}/ns/net` }
  const [host] = addressesOf(inspection)
  if (host === undefined) throw new RpcError('Unknown', `sandbox ${id} has no network`)
  return { host }
}
