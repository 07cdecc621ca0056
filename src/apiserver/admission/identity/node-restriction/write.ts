/** A write of a node. */
import type { V1Node } from '@kubernetes/client-node'
import type { Pod } from '../../../../api/core/pod/references/object-names.ts'
import type { Model } from '../../../../machinery/object.ts'
import type { AdmissionAttributes } from '../../../registry/write/admission.ts'

export type Node = Model<V1Node>

export interface NodeWrite extends AdmissionAttributes {
  /** The name of the node that writes. */
  readonly node: string
}

/** Current objects. Rejects with a 404 for a missing one. */
export interface Lookup {
  pod(namespace: string, name: string): Promise<Pod>
  node(name: string): Promise<Node>
}

export const quoted = (text: string): string => JSON.stringify(text)
