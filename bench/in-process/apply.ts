/**
 * `npm run bench -- --apply`: the cost of applying a 20 KB Deployment without connection and store: parsing, merging
 * into the live object with its managers, decoding, defaulting, validation and encoding. The phases `apply` and
 * `apply-same` measure whole requests.
 */
import { deployments } from '../../src/api/apps/deployment.ts'
import { applyPatch } from '../../src/apiserver/apply/index.ts'
import { ServedResource } from '../../src/apiserver/registry/served-resource.ts'
import { decodeApplied } from '../../src/apiserver/request/bodies/read-applied.ts'
import type { KubeObject } from '../../src/machinery/object.ts'
import { deploymentOf } from '../load/deployment.ts'

const rounds = 3000
const target = 1500

export function benchApply(): void {
  const resource = new ServedResource(deployments)
  const { kind, validate } = resource.definition
  let live: string | undefined
  const apply = (round: number): void => {
    const old = live === undefined ? undefined : (JSON.parse(live) as KubeObject)
    const applied = JSON.parse(deploymentTexts[round % deploymentTexts.length]!)
    const named = {
      kind,
      type: resource.type,
      apiVersion: resource.groupVersion,
      manager: 'bench',
      force: false,
      now: '2026-01-01T00:00:00Z',
    }
    const object = decodeApplied(resource, applyPatch({ live: old, applied, ...named }).object)
    const faults = [...(validate?.object?.(object) ?? []), ...(old ? (validate?.update?.(object, old) ?? []) : [])]
    if (faults.length > 0) throw new Error(JSON.stringify(faults[0]))
    live = JSON.stringify(object)
  }
  for (let round = 0; round < rounds; round++) apply(round)
  const started = process.cpuUsage()
  for (let round = 0; round < rounds; round++) apply(round)
  const { user, system } = process.cpuUsage(started)
  const each = (user + system) / rounds
  console.log(
    `applying ${kilobytes(deploymentTexts[0]!)} KB to ${kilobytes(live ?? '')} KB with a changed image: ` +
      `${Math.round(each)} µs CPU, ${Math.round(1_000_000 / each)}/s of a core (target ${target})`,
  )
}

const deploymentTexts = Array.from({ length: 10 }, (_, round) => deploymentOf('web', round))
const kilobytes = (text: string): string => (text.length / 1000).toFixed(1)
