/** CSINodes: the CSI drivers of a node. */

import type { V1CSINode } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { Model } from '../../machinery/object.ts'
import { duplicate, type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { duplicateFinder, follows, nonNegative } from '../../machinery/validation/field-rules.ts'
import { optional, pointer, struct, text } from '../../machinery/validation/internal-type.ts'
import { qualifiedName } from '../../machinery/validation/names.ts'
import { csiDriver } from '../core/pod/validation/volumes/volumes.ts'
import { age, column, name, resource } from '../resource.ts'

type CSINode = Model<V1CSINode>

export const csiNodes = resource<CSINode>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSINode',
  plural: 'csinodes',
  scope: 'Cluster',
  requiresVersionOnUpdate: true,
  defaults: [{ 'spec.drivers': null, 'spec.drivers[].topologyKeys': null }],
  validate: { object: nodeRules, update: nodeUpdateRules },
  columns: [
    name,
    column('Drivers', ({ spec }) => spec?.drivers?.length ?? 0, {
      type: 'integer',
      description: 'The number of drivers of the node.',
    }),
    age,
  ],
  deletion: { returnsObject: true },
})

function nodeRules({ spec }: CSINode): readonly FieldError[] {
  const names = new Set<string>()
  return (spec?.drivers ?? []).flatMap(({ name: driver, nodeID, topologyKeys, allocatable }, at) => {
    const path = `spec.drivers[${at}]`
    const errors = [...csiDriver(driver, `${path}.name`)]
    if (!nodeID) errors.push(required(`${path}.nodeID`, nodeID))
    else if (nodeID.length > 256) errors.push(invalidValue(`${path}.nodeID`, nodeID, 'must be 256 characters or less'))
    errors.push(...nonNegative(allocatable?.count, `${path}.allocatable.count`))
    if (names.has(driver)) errors.push(duplicate(`${path}.name`, driver))
    names.add(driver)
    const isRepeated = duplicateFinder<string>()
    topologyKeys?.forEach((key) => {
      if (!key) errors.push(required(path, key))
      if (isRepeated(key)) errors.push(duplicate(path, key))
      errors.push(...follows(key, path, qualifiedName))
    })
    return errors
  })
}

const shownDriver = struct({
  Name: text,
  NodeID: text,
  TopologyKeys: optional,
  Allocatable: pointer({ Count: optional }),
})

/** The entry of a driver is immutable, except for `allocatable`. */
function nodeUpdateRules({ spec }: CSINode, { spec: old }: CSINode): readonly FieldError[] {
  const drivers = new Map(spec?.drivers?.map((driver) => [driver.name, driver]))
  return (old?.drivers ?? []).flatMap((before) => {
    const after = drivers.get(before.name)
    const unchanged =
      !after || semanticallyEqual({ ...after, allocatable: undefined }, { ...before, allocatable: undefined })
    return unchanged ? [] : [invalidValue('spec.drivers', shownDriver(after), 'field is immutable')]
  })
}
