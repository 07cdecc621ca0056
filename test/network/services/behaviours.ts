/**
 * The behaviours of Services on a node, tested with real connections, for each mode of kube-proxy and each IP family.
 * Names in brackets are those of upstream's conformance tests.
 */
import { after, before, describe } from 'node:test'
import { clusterIPBehaviours, internalPolicyBehaviours } from './cluster-ip-behaviours.ts'
import { externalBehaviours, localPolicyBehaviours } from './external-behaviours.ts'
import type { Lab } from './lab.ts'
import { affinityBehaviours, lastingBehaviours, refusalBehaviours, rollingBehaviours } from './lasting-behaviours.ts'
import { type CreateMode, type ModeTraits, ServedNode } from './served-node.ts'

/** Defines the tests that hold for all modes, and those of `more`. */
export function serviceBehaviours(
  lab: Lab,
  family: 4 | 6,
  createMode: CreateMode,
  more: readonly ((node: ServedNode) => void)[] = [],
  traits?: ModeTraits,
): void {
  describe(`Services with IPv${family}`, () => {
    const node = new ServedNode(lab, family, createMode, traits)
    before(() => node.syncAll())
    after(() => node.cleanUp())
    clusterIPBehaviours(node)
    internalPolicyBehaviours(node)
    externalBehaviours(node)
    localPolicyBehaviours(node)
    refusalBehaviours(node)
    affinityBehaviours(node)
    lastingBehaviours(node)
    rollingBehaviours(node)
    for (const define of more) define(node)
  })
}
