/** Columns and status validation of ReplicaSets and ReplicationControllers. */

import type { KubeObject } from '../../machinery/object.ts'
import type { FieldError } from '../../machinery/validation/field-error.ts'
import { all } from '../../machinery/validation/field-rules.ts'
import { type Column, column } from '../resource.ts'
import { validateAtMost, validateCounts } from './template-rules.ts'

interface ReplicaStatus {
  replicas: number
  fullyLabeledReplicas?: number
  readyReplicas?: number
  availableReplicas?: number
  observedGeneration?: number
}
type Replicated = KubeObject & { spec?: { replicas?: number }; status?: ReplicaStatus }

/** Validates counts: not negative, and at most that of their superset. */
export const replicaStatus = ({ status }: Replicated): readonly FieldError[] =>
  all(
    validateCounts(status, [
      'replicas',
      'fullyLabeledReplicas',
      'readyReplicas',
      'availableReplicas',
      'observedGeneration',
    ]),
    validateAtMost(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], 'replicas'),
    validateAtMost(status, ['availableReplicas'], 'readyReplicas', 'cannot be greater than readyReplicas'),
  )

export const replicaColumns: readonly Column<Replicated>[] = [
  column('Desired', ({ spec }) => spec?.replicas ?? 0, { type: 'integer', description: 'Desired pods.' }),
  column('Current', ({ status }) => status?.replicas ?? 0, { type: 'integer', description: 'Current pods.' }),
  column('Ready', ({ status }) => status?.readyReplicas ?? 0, { type: 'integer', description: 'Ready pods.' }),
]
