/** What controllers tell that keep a number of equal pods: columns, and which counts a status may have. */

import type { KubeObject } from '../../machinery/object.ts'
import type { FieldError } from '../../machinery/validation/field-error.ts'
import { all } from '../../machinery/validation/field-rules.ts'
import { type Column, column } from '../resource.ts'
import { counts, within } from './template-rules.ts'

interface ReplicaStatus {
  replicas: number
  fullyLabeledReplicas?: number
  readyReplicas?: number
  availableReplicas?: number
  observedGeneration?: number
}
type Replicated = KubeObject & { spec?: { replicas?: number }; status?: ReplicaStatus }

/** No count is negative, and those of a part are never greater than the whole. */
export const replicaStatus = ({ status }: Replicated): readonly FieldError[] =>
  all(
    counts(status, ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration']),
    within(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], 'replicas'),
    within(status, ['availableReplicas'], 'readyReplicas', 'cannot be greater than readyReplicas'),
  )

export const replicaColumns: readonly Column<Replicated>[] = [
  column('Desired', ({ spec }) => spec?.replicas ?? 0, { type: 'integer', description: 'Pods that are wanted.' }),
  column('Current', ({ status }) => status?.replicas ?? 0, { type: 'integer', description: 'Pods that are there.' }),
  column('Ready', ({ status }) => status?.readyReplicas ?? 0, { type: 'integer', description: 'Pods that are ready.' }),
]
