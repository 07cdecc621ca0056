/** Mounts and devices of containers. */
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { DeviceSchema } from '#protobuf/cri-runtime_pb.js'
import type { Mount, MountSchema } from '#protobuf/cri-values_pb.js'

export type MountInitShape = Exclude<MessageInitShape<typeof MountSchema>, Mount>
export type DeviceInitShape = MessageInitShape<typeof DeviceSchema>
