/** VolumeAttachments: that a volume shall be, or is, attached to a node. */

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

/** A volume that stands in an attachment is shown as it is sent. */
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
    column('Attacher', ({ spec }) => spec.attacher, { format: 'name', description: 'The driver that attaches it.' }),
    column('PV', ({ spec }) => spec.source.persistentVolumeName ?? '', { description: 'The volume.' }),
    column('Node', ({ spec }) => spec.nodeName, { description: 'The node that it is attached to.' }),
    column('Attached', ({ status }) => status?.attached ?? false, {
      type: 'boolean',
      description: 'Whether it is attached.',
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

/** Rules that v1 has for new objects only. */
function newAttachmentRules({ spec }: VolumeAttachment): readonly FieldError[] {
  return follows(spec?.source?.persistentVolumeName, 'spec.source.persistentVolumeName', dnsSubdomain)
}

/** Of keys and values together. */
const mostMetadataBytes = 256 * 1024
const mostMessageBytes = 1024

/** What the driver tells. */
function statusRules({ status }: VolumeAttachment): readonly FieldError[] {
  const metadata = Object.entries(status?.attachmentMetadata ?? {})
  const bytes = metadata.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  return all(
    bytes > mostMetadataBytes ? [tooLong('status.attachmentMetadata', mostMetadataBytes)] : valid,
    volumeError(status?.attachError, 'status.attachError'),
    volumeError(status?.detachError, 'status.detachError'),
  )
}

type VolumeError = NonNullable<NonNullable<VolumeAttachment['status']>['attachError']>

function volumeError({ message = '', errorCode }: VolumeError = {}, path: string): readonly FieldError[] {
  return all(
    // Upstream names the other limit.
    Buffer.byteLength(message) > mostMessageBytes ? [tooLong(`${path}.message`, mostMetadataBytes)] : valid,
    errorCode !== undefined && errorCode < 0
      ? [invalidValue(`${path}.errorCode`, errorCode, 'must be between 0 and 2147483647, inclusive')]
      : valid,
  )
}
