/** VolumeAttachments: requests to attach volumes to nodes, and their state. */

import type { V1VolumeAttachment } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  required,
  tooLong,
} from '../../machinery/validation/field-error.ts'
import { all, follows, immutable, valid } from '../../machinery/validation/field-rules.ts'
import { optional, struct, text } from '../../machinery/validation/internal-type.ts'
import { dnsSubdomain } from '../../machinery/validation/names.ts'
import { csiDriver } from '../core/pod/validation/volumes/volumes.ts'
import { inlineVolumeSpec as volumeRules } from '../core/storage/volume-spec.ts'
import { age, column, name, resource } from '../resource.ts'

type VolumeAttachment = Model<V1VolumeAttachment>

const oneSource = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'

/** The spec in error messages. An inline volume is shown as sent. */
const shownSpec = struct({
  Attacher: text,
  Source: struct({ PersistentVolumeName: optional, InlineVolumeSpec: optional }),
  NodeName: text,
})

export const volumeAttachments = resource<VolumeAttachment>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  scope: 'Cluster',
  subresources: { status: true },
  resetFields: { status: ['metadata', 'spec'] },
  requiresVersionOnUpdate: true,
  prepare: {
    create: (attachment) => {
      attachment.status = { attached: false }
    },
  },
  validate: {
    object: attachmentRules,
    create: newAttachmentRules,
    status: statusRules,
    update: ({ spec }, { spec: old }) => immutable(spec, 'spec', old, shownSpec),
  },
  columns: [
    name,
    column('Attacher', ({ spec }) => spec.attacher, {
      format: 'name',
      description: 'The driver that attaches the volume.',
    }),
    column('PV', ({ spec }) => spec.source.persistentVolumeName ?? '', { description: 'The volume.' }),
    column('Node', ({ spec }) => spec.nodeName, { description: 'The node of the attachment.' }),
    column('Attached', ({ status }) => status?.attached ?? false, {
      type: 'boolean',
      description: 'Whether the volume is attached.',
    }),
    age,
  ],
  deletion: { returnsObject: true },
})

function attachmentRules({ spec }: VolumeAttachment): readonly FieldError[] {
  const { attacher, nodeName, source } = spec ?? {}
  const { persistentVolumeName, inlineVolumeSpec } = source ?? {}
  const errors = [...csiDriver(attacher, 'spec.attacher')]
  if (persistentVolumeName === undefined && !inlineVolumeSpec) errors.push(required('spec.source', oneSource))
  else if (persistentVolumeName !== undefined && inlineVolumeSpec) errors.push(forbiddenField('spec.source', oneSource))
  else if (persistentVolumeName === '')
    errors.push(required('spec.source.persistentVolumeName', 'must specify non empty persistentVolumeName'))
  else if (inlineVolumeSpec) errors.push(...volumeRules(inlineVolumeSpec, 'spec.source.inlineVolumeSpec'))
  return [...errors, ...follows(nodeName ?? '', 'spec.nodeName', dnsSubdomain)]
}

/** Validates rules that hold on create only, in v1. */
function newAttachmentRules({ spec }: VolumeAttachment): readonly FieldError[] {
  return follows(spec?.source?.persistentVolumeName, 'spec.source.persistentVolumeName', dnsSubdomain)
}

/** The limit for the sum of all keys and values. */
const maxMetadataBytes = 256 * 1024
const maxMessageBytes = 1024

/** Validates a write to `/status`. */
function statusRules({ status }: VolumeAttachment): readonly FieldError[] {
  const metadata = Object.entries(status?.attachmentMetadata ?? {})
  const bytes = metadata.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  return all(
    bytes > maxMetadataBytes ? [tooLong('status.attachmentMetadata', maxMetadataBytes)] : valid,
    volumeError(status?.attachError, 'status.attachError'),
    volumeError(status?.detachError, 'status.detachError'),
  )
}

type VolumeError = NonNullable<NonNullable<VolumeAttachment['status']>['attachError']>

function volumeError({ message = '', errorCode }: VolumeError = {}, path: string): readonly FieldError[] {
  return all(
    // Upstream shows the other limit.
    Buffer.byteLength(message) > maxMessageBytes ? [tooLong(`${path}.message`, maxMetadataBytes)] : valid,
    errorCode !== undefined && errorCode < 0
      ? [invalidValue(`${path}.errorCode`, errorCode, 'must be between 0 and 2147483647, inclusive')]
      : valid,
  )
}
