import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultConfiguration, withDefaults } from './defaults.ts'
import { idleFieldsLine } from './idle-fields.ts'
import { checkConfiguration, decodeWritten } from './index.ts'

function parse(fields: object) {
  const configuration = withDefaults(
    decodeWritten({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields }),
  )
  checkConfiguration(configuration)
  return configuration
}

test('a file as kubeadm writes it, with zero durations, has the defaults', () => {
  const { nodeStatusReportFrequency, runtimeRequestTimeout, evictionPressureTransitionPeriod, ...more } = parse({
    authentication: { anonymous: { enabled: false }, webhook: { cacheTTL: '0s', enabled: true }, x509: {} },
    authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: '0s', cacheUnauthorizedTTL: '0s' } },
    cpuManagerReconcilePeriod: '0s',
    crashLoopBackOff: {},
    evictionPressureTransitionPeriod: '0s',
    logging: {
      flushFrequency: 0,
      options: { json: { infoBufferSize: '0' }, text: { infoBufferSize: '0' } },
      verbosity: 0,
    },
    memorySwap: {},
    nodeStatusReportFrequency: '0s',
    nodeStatusUpdateFrequency: '0s',
    runtimeRequestTimeout: '0s',
    shutdownGracePeriod: '0s',
  })
  assert.deepEqual(
    [nodeStatusReportFrequency, runtimeRequestTimeout, evictionPressureTransitionPeriod],
    ['5m0s', '2m0s', '5m0s'],
  )
  assert.equal(more.cpuManagerReconcilePeriod, '10s')
})

test('thresholds replace the default ones, or are merged with them', () => {
  const own = { 'memory.available': '1Gi' }
  assert.deepEqual(parse({ evictionHard: own }).evictionHard, own)
  assert.deepEqual(parse({ evictionHard: own, mergeDefaultEvictionSettings: true }).evictionHard, {
    ...defaultConfiguration.evictionHard,
    ...own,
  })
})

for (const [fields, fault] of [
  [{ nodeLeaseDurationSeconds: -1 }, 'nodeLeaseDurationSeconds must be greater than 0'],
  [{ oomScoreAdj: -2000 }, 'oomScoreAdj (--oom-score-adj) -2000 must be between -1000 and 1000, inclusive'],
  [
    { authorization: { mode: 'RBAC' } },
    'authorization.mode (--authorization-mode) "RBAC" must be AlwaysAllow or Webhook',
  ],
  [{ featureGates: { Teleport: true } }, 'unrecognized feature gate: Teleport'],
  [{ syncFrequency: 'often' }, 'syncFrequency "often" is not a duration'],
  [{ registerWithTaints: [{ key: 'a', effect: 'Never' }] }, 'invalid taint: a=:Never'],
  [
    { crashLoopBackOff: { maxContainerRestartPeriod: '5m1s' } },
    'CrashLoopBackOff.MaxContainerRestartPeriod (got: 301 seconds) must be set between 1s and 300s',
  ],
  [
    {
      crashLoopBackOff: { maxContainerRestartPeriod: '10s' },
      featureGates: { KubeletCrashLoopBackOffMax: false },
    },
    'FeatureGate KubeletCrashLoopBackOffMax not enabled, CrashLoopBackOff.MaxContainerRestartPeriod must not be set',
  ],
  [{ userNamespaces: { idsPerPod: 0 } }, 'userNamespaces.idsPerPod must not be less than 65536'],
  [{ userNamespaces: { idsPerPod: 65537 } }, 'userNamespaces.idsPerPod must be a multiple of 65536'],
  [{ userNamespaces: { idsPerPod: 2 ** 32 } }, 'userNamespaces.idsPerPod must not be more than 4294967295'],
  [{ clusterDNS: ['dns'] }, 'clusterDNS (--cluster-dns) "dns" is not an IP address'],
  [
    { shutdownGracePeriod: '10s', shutdownGracePeriodCriticalPods: '20s' },
    'shutdownGracePeriodCriticalPods {20s} must be <= shutdownGracePeriod {10s}',
  ],
] as const)
  test(`a configuration with ${JSON.stringify(fields)} is rejected`, () =>
    assert.throws(() => parse(fields), { message: `invalid configuration: ${fault}` }))

test('fields without an effect are named in one line', () => {
  assert.deepEqual(idleFieldsLine(['maxPods', 'hairpinMode', 'tracing', 'hairpinMode']), [
    'fields of the KubeletConfiguration without effect here: hairpinMode, tracing',
  ])
  assert.deepEqual(idleFieldsLine(['maxPods']), [])
})
