/** A CSI driver of this node, on its socket. All methods reject with a GrpcError, as for a driver that ends. */
import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  NodeServiceCapability_RPC_Type as Capability,
  Node,
  type NodeExpandVolumeRequestSchema,
  type NodeGetInfoResponse,
  type NodeGetVolumeStatsRequestSchema,
  type NodePublishVolumeRequestSchema,
  type NodeStageVolumeRequestSchema,
  type VolumeUsage,
} from '#protobuf/csi-node_pb.js'
import { SocketClient } from '../../../../../lib/grpc/socket-client.ts'

export { Capability }

export type StageRequest = MessageInitShape<typeof NodeStageVolumeRequestSchema>
export type PublishRequest = MessageInitShape<typeof NodePublishVolumeRequestSchema>
export type ExpandRequest = MessageInitShape<typeof NodeExpandVolumeRequestSchema>

const limit = { timeoutMs: 120_000 }

const { method } = Node

export class CsiDriverClient {
  readonly #client: SocketClient

  /** `endpoint` is the path of the socket. */
  constructor(endpoint: string) {
    this.#client = new SocketClient(`unix://${endpoint}`)
  }

  info(): Promise<NodeGetInfoResponse> {
    return this.#client.call(method.nodeGetInfo, {}, limit)
  }

  async capabilities(): Promise<ReadonlySet<Capability>> {
    const { capabilities } = await this.#client.call(method.nodeGetCapabilities, {}, limit)
    return new Set(capabilities.flatMap(({ type }) => (type.case === 'rpc' ? [type.value.type] : [])))
  }

  async stage(request: StageRequest): Promise<void> {
    await this.#client.call(method.nodeStageVolume, request, limit)
  }

  async unstage(volumeId: string, stagingTargetPath: string): Promise<void> {
    await this.#client.call(method.nodeUnstageVolume, { volumeId, stagingTargetPath }, limit)
  }

  async publish(request: PublishRequest): Promise<void> {
    await this.#client.call(method.nodePublishVolume, request, limit)
  }

  async unpublish(volumeId: string, targetPath: string): Promise<void> {
    await this.#client.call(method.nodeUnpublishVolume, { volumeId, targetPath }, limit)
  }

  /** Resolves with the size of the volume after it, in bytes. */
  async expand(request: ExpandRequest): Promise<bigint> {
    return (await this.#client.call(method.nodeExpandVolume, request, limit)).capacityBytes
  }

  async stats(request: MessageInitShape<typeof NodeGetVolumeStatsRequestSchema>): Promise<readonly VolumeUsage[]> {
    return (await this.#client.call(method.nodeGetVolumeStats, request, limit)).usage
  }

  close(): void {
    this.#client.close()
  }
}
