/** Which class of storage a claim names. */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'

/** Empty where it names none. The annotation is older than the field, and comes first. */
export const claimClass = ({ metadata, spec }: Model<V1PersistentVolumeClaim>): string =>
  metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec?.storageClassName ?? ''
