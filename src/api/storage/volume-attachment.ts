/** VolumeAttachments: that a volume shall be, or is, attached to a node. */
import type { V1VolumeAttachment } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, forbiddenField, required } from '../../machinery/validation/field-error.ts'
import { follows, immutable } from '../../machinery/validation/field-rules.ts'
import { dnsSubdomain } from '../../machinery/validation/names.ts'
import { age, column, name, resource } from '../resource.ts'

type VolumeAttachment = Model<V1VolumeAttachment>

const oneSource = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'

export const volumeAttachments = resource<VolumeAttachment>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  scope: 'Cluster',
  subresources: { status: true },
  resets: { status: ['metadata', 'spec'] },
  prepare: {
    create: (attachment) => {
      attachment.status = { attached: false }
    },
  },
  validate: { object: attachmentRules, update: ({ spec }, { spec: old }) => immutable(spec, 'spec', old) },
  columns: [
    name,
    column('Attacher', ({ spec }) => spec.attacher, { format: 'name', description: 'The driver that attaches it.' }),
    column('PV', ({ spec }) => spec.source.persistentVolumeName ?? '', { description: 'The volume.' }),
    column('Node', ({ spec }) => spec.nodeName, { description: 'The node that it is attached to.' }),
    column('Attached', ({ status }) => status?.attached ?? false, { type: 'boolean', description: 'Whether it is attached.' }),
    age,
  ],
  deletion: { returnsObject: true },
})

function attachmentRules({ spec }: VolumeAttachment): readonly FieldError[] {
  const { attacher, nodeName, source } = spec ?? {}
  const { persistentVolumeName, inlineVolumeSpec } = source ?? {}
  const errors = attacher ? [] : [required('spec.attacher')]
  if (persistentVolumeName === undefined && !inlineVolumeSpec) errors.push(required('spec.source', oneSource))
  else if (persistentVolumeName !== undefined && inlineVolumeSpec) errors.push(forbiddenField('spec.source', oneSource))
  else if (persistentVolumeName === '') errors.push(required('spec.source.persistentVolumeName', 'must specify non empty persistentVolumeName'))
  errors.push(...follows(nodeName ?? '', 'spec.nodeName', dnsSubdomain))
  return attacher ? errors.concat(follows(attacher, 'spec.attacher', (text) => dnsSubdomain(text.toLowerCase()))) : errors
}
