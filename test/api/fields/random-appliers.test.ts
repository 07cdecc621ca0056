/**
 * Server-side apply: no manager loses a field to another one that did not force the apply. To add a kind, add a line to
 * the table.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaType } from '../../../src/api/schema/index.ts'
import { stack } from '../../../src/machinery/fields/sample-types.fixture.ts'
import { type AppliedKind, runAppliers } from './random-appliers.ts'

const kinds: readonly AppliedKind[] = [
  { apiVersion: 'apps/v1', kind: 'Deployment', type: schemaType('V1Deployment') },
  { apiVersion: 'v1', kind: 'Service', type: schemaType('V1Service') },
  { apiVersion: 'v1', kind: 'ConfigMap', type: schemaType('V1ConfigMap') },
  { apiVersion: 'v1', kind: 'Pod', type: schemaType('V1Pod') },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', type: schemaType('V1ClusterRole') },
  // Has sets, maps, atomic lists and maps, and free-form fields.
  { apiVersion: 'example.com/v1', kind: 'Stack', type: stack },
]

const runs = 30

for (const kind of kinds)
  test(`appliers of a ${kind.kind} in random order never lose another's field`, () => {
    const counts = { refused: 0, forced: 0 }
    for (let seed = 1; seed <= runs; seed++) {
      const { refused, forced } = runAppliers(kind, seed)
      counts.refused += refused
      counts.forced += forced
    }
    // A run without conflicts proves nothing.
    assert.ok(counts.refused > runs && counts.forced > runs, JSON.stringify(counts))
  })
