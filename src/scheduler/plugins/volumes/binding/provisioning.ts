/**
 * Checks if a volume can be provisioned for a claim on a node: the class allows the topology, and the driver has the
 * capacity (KEP-1472).
 */
import type {
  CSIDriver,
  CSIStorageCapacity,
  Node,
  PersistentVolumeClaim,
  StorageClass,
} from '../../../../client/kinds.ts'
import { own } from '../../../../lib/own.ts'
import { labelSelectorOf } from '../../../../machinery/selectors/label-selector.ts'
import { wholeValue } from '../../../../machinery/values/quantity.ts'

/** The drivers and their capacities. */
export interface Provisioners {
  driver(name: string): CSIDriver | undefined
  capacitiesOf(className: string): Iterable<CSIStorageCapacity>
}

/** `capacity`: the driver's capacity for the node, if published. */
export type Provisioning =
  | { readonly verdict: 'possible'; readonly capacity?: CSIStorageCapacity }
  | { readonly verdict: 'impossible' | 'no room' }

const noProvisioner = 'kubernetes.io/no-provisioner'

export function provisioning(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  node: Node,
  provisioners: Provisioners,
): Provisioning {
  const { provisioner } = storageClass
  if (!provisioner || provisioner === noProvisioner || !isAllowed(storageClass, node)) return { verdict: 'impossible' }
  const size = claim.spec?.resources?.requests?.storage
  if (size === undefined || !provisioners.driver(provisioner)?.spec.storageCapacity) return { verdict: 'possible' }
  for (const capacity of provisioners.capacitiesOf(storageClass.metadata.name ?? ''))
    if (isEnough(capacity, wholeValue(size)) && isFor(capacity, node)) return { verdict: 'possible', capacity }
  return { verdict: 'no room' }
}

function isEnough({ capacity, maximumVolumeSize }: CSIStorageCapacity, size: bigint): boolean {
  const limit = maximumVolumeSize ?? capacity
  return limit !== undefined && wholeValue(limit) >= size
}

const isFor = ({ nodeTopology }: CSIStorageCapacity, { metadata }: Node): boolean =>
  nodeTopology !== undefined && labelSelectorOf(nodeTopology).matches(metadata.labels)

/** Without topologies all nodes are allowed; otherwise one has to match. */
function isAllowed({ allowedTopologies = [] }: StorageClass, { metadata: { labels = {} } }: Node): boolean {
  if (allowedTopologies.length === 0) return true
  return allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => values.includes(own(labels, key) ?? '')),
  )
}
