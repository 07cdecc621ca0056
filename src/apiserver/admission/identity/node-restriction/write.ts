/** A write of a node. */
import type { V1Node } from '@kubernetes/client-node'
import type { Model } from '../../../../machinery/object.ts'
import type { Pod } from '../../../authorization/node/pod-references.ts'
import type { AdmissionAttributes } from '../../../registry/write/admission.ts'

export type Node = Model<V1Node>

export interface NodeWrite extends AdmissionAttributes {
  /** Who writes. */
  readonly node: string
}

/** What is there now. Rejects with a 404 for what is not. */
export interface Lookup {
  pod(namespace: string, name: string): Promise<Pod>
  node(name: string): Promise<Node>
}

export const quoted = (text: string): string => JSON.stringify(text)
