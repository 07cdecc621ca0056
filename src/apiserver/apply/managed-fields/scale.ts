/**
 * Translates managedFields between an object and its Scale: the Scale lists the owners of the replicas, and a write
 * through it updates the managedFields of the object.
 */
import { runSync } from '../../../lib/flow/steps.ts'
import { difference, fieldSet, has, isEmpty, union } from '../../../machinery/fields/field-set.ts'
import { fieldElement } from '../../../machinery/fields/path-element.ts'
import type { ManagedFieldsEntry } from '../../../machinery/object.ts'
import { decodeManaged, encodeManaged, identityOf, type Managed } from './managed.ts'

export interface ReplicasPath {
  /** Version of the object: `apps/v1`. */
  readonly apiVersion: string
  /** Path of the desired replicas: `spec.replicas`. */
  readonly path: string
}

const scaleVersion = 'autoscaling/v1'
const inScale = fieldSet('spec.replicas')
const stepsOf = (path: string): string[] => path.split('.').filter(Boolean).map(fieldElement)

/** The managedFields of the object's Scale. */
export function scaleManagedFields(
  entries: readonly ManagedFieldsEntry[] | undefined,
  { path }: ReplicasPath,
): ManagedFieldsEntry[] | undefined {
  const scale: Managed = new Map()
  for (const manager of runSync(decodeManaged(entries, entries)).values()) {
    if (!has(manager.fields, stepsOf(path))) continue
    const owner = { ...manager, apiVersion: scaleVersion, fields: inScale, source: undefined }
    scale.set(identityOf(owner), owner)
  }
  return runSync(encodeManaged(scale))
}

/** The object's managedFields after a write of its Scale, whose managedFields are `ofScale`. */
export function managedFieldsFromScale(
  entries: readonly ManagedFieldsEntry[] | undefined,
  ofScale: readonly ManagedFieldsEntry[] | undefined,
  { apiVersion, path }: ReplicasPath,
): ManagedFieldsEntry[] | undefined {
  const steps = stepsOf(path)
  const replicas = fieldSet(steps.map((step) => step.slice(2)).join('.'))
  const managed: Managed = new Map()
  const owners: Managed = new Map()
  for (const manager of runSync(decodeManaged(ofScale, ofScale)).values()) {
    const owner = { ...manager, apiVersion, fields: replicas, source: undefined }
    if (!isEmpty(manager.fields)) owners.set(identityOf(owner), owner)
  }
  for (const [identity, manager] of runSync(decodeManaged(entries, entries))) {
    const stays = !has(manager.fields, steps) || owners.has(identity)
    const fields = stays ? manager.fields : difference(manager.fields, replicas)
    if (!isEmpty(fields)) managed.set(identity, stays ? manager : { ...manager, fields, source: undefined })
  }
  for (const [identity, owner] of owners) {
    const known = managed.get(identity)
    if (!known) managed.set(identity, owner)
    else if (!has(known.fields, steps))
      managed.set(identity, { ...known, time: owner.time, fields: union(known.fields, replicas), source: undefined })
  }
  return runSync(encodeManaged(managed))
}
