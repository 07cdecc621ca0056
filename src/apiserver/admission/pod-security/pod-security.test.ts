import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pluginFixture, rejectionOf } from '../plugin.fixture.ts'
import { PodSecurity } from './pod-security.ts'

const key = (name: string) => `pod-security.kubernetes.io/${name}`
const privileged = { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] }
const refused = 'privileged (container "c" must not set securityContext.privileged=true)'

const fixture = pluginFixture({
  apiVersion: 'pod-security.admission.config.k8s.io/v1',
  kind: 'PodSecurityConfiguration',
  exemptions: { namespaces: ['exempt'], usernames: ['root'], runtimeClasses: ['kata'] },
})
const plugin = new PodSecurity(fixture.sources)

async function namespace(name: string, labels: Readonly<Record<string, string>>): Promise<void> {
  await fixture.store('v1/namespaces', {
    metadata: { name, labels: Object.fromEntries(Object.entries(labels).map(([mode, text]) => [key(mode), text])) },
  })
}

/**
 * Writes a pod, or a deployment with such a template. Returns the rejection, the warnings and the audit annotations.
 */
async function written(kind: 'pod' | 'deployment', place: string, spec: object = privileged, more: object = {}) {
  const annotations: Record<string, string> = {}
  const warnings: string[] = []
  const metadata = { name: 'p', namespace: place }
  const template = { metadata: { labels: { a: 'b' } }, spec }
  const object =
    kind === 'pod' ? { metadata, spec } : { metadata, spec: { selector: { matchLabels: { a: 'b' } }, template } }
  const attributes = fixture.write(kind === 'pod' ? 'v1/pods' : 'apps/v1/deployments', object, {
    warn: (text) => warnings.push(text),
    annotate: (name, value) => (annotations[name] = value),
    ...more,
  })
  const refusal = await rejectionOf(plugin, attributes)
  return { refusal, warnings, annotations }
}

/** The Pod Security series that are not zero, with the labels in upstream's order. */
const counted = (): string[] =>
  fixture.sources.metrics
    .render()
    .split('\n')
    .filter((line) => line.startsWith('pod_security_') && !line.endsWith(' 0'))

test('namespaces, users and runtime classes are exempt', async () => {
  await namespace('strict', { enforce: 'restricted', warn: 'restricted', audit: 'restricted' })
  assert.deepEqual(await written('pod', 'exempt'), {
    refusal: undefined,
    warnings: [],
    annotations: { [key('exempt')]: 'namespace' },
  })
  const root = { user: { name: 'root', groups: [] } }
  assert.deepEqual(await written('deployment', 'strict', privileged, root), {
    refusal: undefined,
    warnings: [],
    annotations: { [key('exempt')]: 'user' },
  })
  const kata = { ...privileged, runtimeClassName: 'kata' }
  assert.deepEqual(await written('pod', 'strict', kata), {
    refusal: undefined,
    warnings: [],
    annotations: { [key('exempt')]: 'runtimeClass' },
  })
  assert.deepEqual(counted(), [
    'pod_security_exemptions_total{request_operation="create",resource="pod",subresource=""} 2',
    'pod_security_exemptions_total{request_operation="create",resource="controller",subresource=""} 1',
  ])
})

test('evaluations are enforced, warned of, audited and counted', async () => {
  const before = counted()
  await namespace('free', {})
  await namespace('mixed', {
    enforce: 'baseline',
    'enforce-version': 'v1.28',
    warn: 'baseline',
    audit: 'baseline',
    'audit-version': 'v1.99',
  })
  const wouldViolate = (standard: string) => `would violate PodSecurity "${standard}": ${refused}`
  assert.deepEqual(await written('pod', 'free'), {
    refusal: undefined,
    warnings: [],
    annotations: { [key('enforce-policy')]: 'privileged:latest' },
  })
  assert.deepEqual(await written('pod', 'mixed'), {
    refusal: `pods "p" is forbidden: violates PodSecurity "baseline:v1.28": ${refused}`,
    warnings: [],
    annotations: {
      [key('enforce-policy')]: 'baseline:v1.28',
      [key('audit-violations')]: wouldViolate('baseline:v1.99'),
    },
  })
  assert.deepEqual(await written('deployment', 'mixed'), {
    refusal: undefined,
    warnings: [wouldViolate('baseline:latest')],
    annotations: { [key('audit-violations')]: wouldViolate('baseline:v1.99') },
  })
  const series = (decision: string, level: string, version: string, mode: string, resource: string, count: number) =>
    `pod_security_evaluations_total{decision="${decision}",policy_level="${level}",policy_version="${version}",` +
    `mode="${mode}",request_operation="create",resource="${resource}",subresource=""} ${count}`
  assert.deepEqual(
    counted().filter((line) => !before.includes(line)),
    [
      series('allow', 'privileged', 'latest', 'enforce', 'pod', 1),
      series('deny', 'baseline', 'future', 'audit', 'pod', 1),
      series('deny', 'baseline', 'v1.28', 'enforce', 'pod', 1),
      series('deny', 'baseline', 'future', 'audit', 'controller', 1),
      series('deny', 'baseline', 'latest', 'warn', 'controller', 1),
    ],
  )
})

test('in a missing namespace a pod is rejected and a template is admitted with an audit annotation', async () => {
  const before = counted()
  assert.deepEqual(await written('pod', 'gone'), {
    refusal: 'Internal error occurred: failed to lookup namespace "gone"',
    warnings: [],
    annotations: {
      [key('error')]: 'Internal error occurred: failed to lookup namespace "gone": namespaces "gone" not found',
    },
  })
  assert.deepEqual(await written('deployment', 'gone'), {
    refusal: undefined,
    warnings: [],
    annotations: { [key('error')]: 'failed to lookup namespace "gone": namespaces "gone" not found' },
  })
  assert.deepEqual(
    counted().filter((line) => !before.includes(line)),
    ['pod', 'controller'].map(
      (resource) =>
        `pod_security_errors_total{fatal="true",request_operation="create",resource="${resource}",subresource=""} 1`,
    ),
  )
})
