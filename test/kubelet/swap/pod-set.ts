/** The pods of the swap test: files of YAML, whose annotation `steps` says when statuses are recorded. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Pod } from '../../../src/client/kinds.ts'
import type { KubeObject } from '../../../src/machinery/object.ts'

export interface RecordedPod {
  readonly pod: Pod
  /** Conditions to wait for, and actions (`steps.ts`), in order. */
  readonly steps: readonly string[]
}

export interface PodSet {
  readonly pods: readonly RecordedPod[]
  /** ConfigMaps and Secrets that they use. */
  readonly objects: readonly KubeObject[]
}

/** Reads the pods for the node `n1`. */
export function readPodSet(namespace: string): PodSet {
  const folder = join(import.meta.dirname, 'pods')
  const documents = readdirSync(folder).flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((document) => document.toJS() as KubeObject),
  )
  const objects = documents.map((one) => ({ ...one, metadata: { ...one.metadata, namespace } }))
  return {
    objects: objects.filter(({ kind }) => kind !== 'Pod'),
    pods: objects.filter(({ kind }) => kind === 'Pod').map((pod) => recordedPod(pod as Pod)),
  }
}

function recordedPod({ metadata: { annotations, ...metadata }, spec, ...pod }: Pod): RecordedPod {
  const steps = (annotations?.steps ?? '').split(';').map((step) => step.trim())
  return {
    pod: {
      ...pod,
      metadata,
      spec: { automountServiceAccountToken: false, dnsPolicy: 'Default', ...spec!, nodeName: 'n1' },
    },
    steps,
  }
}
