/** CRI's calls for the runtime itself. */
import { setTimeout as delay } from 'node:timers/promises'
import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  CgroupDriver,
  type ContainerEventResponseSchema,
  ContainerEventType,
  type RuntimeService,
} from '#protobuf/cri-runtime_pb.js'
import { jsonLines } from '../../../lib/docker-engine/index.ts'
import type { ServiceHandlers } from '../../../lib/grpc/socket-server.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { DockerParts } from '../docker-parts.ts'
import { labelFilter } from '../pods/labels.ts'
import { sandboxStatus } from '../pods/messages.ts'
import { statusesIn } from '../pods/statuses.ts'
import { recursiveReadOnlyVersion } from '../spec/mounts.ts'

type RuntimeCalls = Pick<
  ServiceHandlers<typeof RuntimeService>,
  'version' | 'status' | 'runtimeConfig' | 'updateRuntimeConfig' | 'getContainerEvents'
>

type Event = MessageInitShape<typeof ContainerEventResponseSchema>

interface EngineEvent {
  readonly Action?: string
  readonly Actor?: { readonly ID?: string; readonly Attributes?: Readonly<Record<string, string>> }
  readonly timeNano?: number
}

/** The engine's words for changes. */
const types: Readonly<Record<string, ContainerEventType>> = {
  create: ContainerEventType.CONTAINER_CREATED_EVENT,
  start: ContainerEventType.CONTAINER_STARTED_EVENT,
  die: ContainerEventType.CONTAINER_STOPPED_EVENT,
  destroy: ContainerEventType.CONTAINER_DELETED_EVENT,
}

/** An engine that does not answer for this time is not ready. In ms. */
const pingMs = 5_000

export function runtimeCalls(parts: DockerParts): RuntimeCalls {
  const { engine, version, info } = parts
  const features = { recursiveReadOnlyMounts: version >= recursiveReadOnlyVersion, userNamespaces: false }
  return {
    version: () => ({
      version: '0.1.0',
      runtimeName: 'docker',
      runtimeVersion: info.ServerVersion,
      runtimeApiVersion: 'v1',
    }),

    async status({ verbose }) {
      const problem = await problemOf(parts)
      const runtime =
        problem === undefined
          ? { type: 'RuntimeReady', status: true }
          : { type: 'RuntimeReady', status: false, reason: 'DockerDaemonNotReady', message: problem }
      return {
        status: { conditions: [runtime, { type: 'NetworkReady', status: true }] },
        // The default handler has no name.
        runtimeHandlers: ['', ...Object.keys(info.Runtimes ?? {})].map((name) => ({ name, features })),
        features: { supplementalGroupsPolicy: true },
        ...(verbose && { info: { engine: JSON.stringify({ address: engine.address.text, api: `1.${version}` }) } }),
      }
    },

    runtimeConfig: () => ({
      linux: { cgroupDriver: info.CgroupDriver === 'systemd' ? CgroupDriver.SYSTEMD : CgroupDriver.CGROUPFS },
    }),

    // Addresses of pods are those of the engine's network.
    updateRuntimeConfig: () => ({}),

    getContainerEvents: (_, signal) => containerEvents(parts, signal),
  }
}

/** Undefined if the engine answers. */
async function problemOf({ engine }: DockerParts): Promise<string | undefined> {
  const timeout = AbortSignal.timeout(pingMs)
  const late = delay(pingMs, undefined, { ref: false }).then(() => `no answer within ${pingMs / 1000} s`)
  const answer = engine.json({ path: '/containers/json', query: { limit: 1 }, signal: timeout })
  return Promise.race([answer.then(() => undefined, messageOf), late])
}

/** All events from now on, until the signal is aborted or the engine ends. */
async function* containerEvents(parts: DockerParts, signal: AbortSignal): AsyncGenerator<Event> {
  const filters = { ...labelFilter(parts.pods.owner, 'container'), type: ['container'], event: Object.keys(types) }
  const events = await parts.engine.stream({ path: '/events', query: { filters }, signal })
  try {
    for await (const event of jsonLines<EngineEvent>(events)) {
      const type = types[event.Action ?? '']
      if (type !== undefined) yield await eventOf(parts, type, event)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

async function eventOf(parts: DockerParts, type: ContainerEventType, event: EngineEvent): Promise<Event> {
  const sandboxId = event.Actor?.Attributes?.['io.kubernetes.sandbox.id'] ?? ''
  const sandbox = await parts.pods.findSandbox(sandboxId)
  return {
    containerId: event.Actor?.ID ?? '',
    containerEventType: type,
    createdAt: BigInt(event.timeNano ?? 0),
    ...(sandbox && { podSandboxStatus: sandboxStatus(sandbox) }),
    containersStatuses: await statusesIn(parts, sandboxId),
  }
}
