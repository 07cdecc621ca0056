/** CRI's calls for the runtime itself. */
import { CgroupDriver, type RuntimeService } from '#protobuf/cri-runtime_pb.js'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import type { ServiceHandlers } from '../../lib/grpc/socket-server.ts'
import { messageOf } from '../../lib/message-of.ts'
import { release } from '../../lib/release.ts'
import type { PodConnections } from '../network/pod-connections.ts'
import type { RuntimeParts } from './runtime-parts.ts'

type RuntimeCalls = Pick<
  ServiceHandlers<typeof RuntimeService>,
  'version' | 'status' | 'runtimeConfig' | 'updateRuntimeConfig' | 'getContainerEvents'
>

export const runtimeName = 'typernetes'

export function runtimeCalls({ executor, images, network, events }: RuntimeParts): RuntimeCalls {
  return {
    version: () => ({
      version: '0.1.0',
      runtimeName,
      runtimeVersion: release,
      runtimeApiVersion: 'v1',
    }),

    status({ verbose }) {
      const { problem } = network
      const features = {
        recursiveReadOnlyMounts: executor.supportsRecursiveReadOnly,
        userNamespaces: images.canMapUsers,
      }
      return {
        status: {
          conditions: [
            { type: 'RuntimeReady', status: true },
            problem === undefined
              ? { type: 'NetworkReady', status: true }
              : {
                  type: 'NetworkReady',
                  status: false,
                  reason: 'NetworkPluginNotReady',
                  message: `Network plugin returns error: ${problem}`,
                },
          ],
        },
        // The default handler has no name.
        runtimeHandlers: ['', executor.name].map((name) => ({ name, features })),
        features: { supplementalGroupsPolicy: true },
        ...(verbose && { info: { executor: JSON.stringify({ name: executor.name, version: executor.version }) } }),
      }
    },

    runtimeConfig: () => ({ linux: { cgroupDriver: CgroupDriver.CGROUPFS } }),

    updateRuntimeConfig({ runtimeConfig }) {
      const podCidr = runtimeConfig?.networkConfig?.podCidr ?? ''
      if (podCidr !== '') setRanges(network, podCidr)
      return {}
    },

    getContainerEvents: (_, signal) => events.stream(signal),
  }
}

function setRanges(network: PodConnections, podCidr: string): void {
  try {
    network.setRanges(podCidr)
  } catch (error) {
    throw new RpcError('InvalidArgument', messageOf(error))
  }
}
