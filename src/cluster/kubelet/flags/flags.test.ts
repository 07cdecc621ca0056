import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { effectiveConfiguration } from '../effective-configuration.ts'
import { configFlags, writtenByFlags } from './config-flags.ts'
import { deprecatedFlagLines } from './deprecated-flags.ts'
import { idleFlagLines, kubeletFlags, kubeletHelp } from './index.ts'

const written = (...args: string[]) => writtenByFlags(kubeletFlags(args))

test('flags become fields of the configuration', () => {
  assert.deepEqual(written('--max-pods=5', '--register-node=false', '--cluster-dns', '10.0.0.10,10.0.0.11'), {
    maxPods: 5,
    registerNode: false,
    clusterDNS: ['10.0.0.10', '10.0.0.11'],
  })
  assert.deepEqual(written('--manifest-url-header=a:hello,b:x', '--manifest-url-header=a:again'), {
    staticPodURLHeader: { a: ['hello', 'again'], b: ['x'] },
  })
  assert.deepEqual(written('--anonymous-auth', '--authentication-token-webhook=false', '--client-ca-file=/ca.crt'), {
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false }, x509: { clientCAFile: '/ca.crt' } },
  })
  assert.deepEqual(
    written(
      '--eviction-hard=memory.available<1Gi,nodefs.available<10%',
      '--eviction-soft-grace-period=memory.available=1m30s',
      '--system-reserved=cpu=200m,memory=1Gi',
      '--register-with-taints=dedicated=web:NoSchedule,spot:NoExecute',
      '--feature-gates=MemoryQoS=true',
    ),
    {
      evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '10%' },
      evictionSoftGracePeriod: { 'memory.available': '1m30s' },
      systemReserved: { cpu: '200m', memory: '1Gi' },
      registerWithTaints: [
        { key: 'dedicated', value: 'web', effect: 'NoSchedule' },
        { key: 'spot', value: '', effect: 'NoExecute' },
      ],
      featureGates: { MemoryQoS: true },
    },
  )
})

test('flags override fields of the file, and members of groups remain', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-kubelet-flags-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'config.yaml')
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      maxPods: 20,
      podsPerCore: 4,
      hairpinMode: 'none',
      authentication: { x509: { clientCAFile: 'ca.crt' } },
      featureGates: { MemoryQoS: true },
      systemReserved: { cpu: '1', memory: '1Gi' },
    }),
  )
  const flags = kubeletFlags([
    `--config=${file}`,
    '--max-pods=30',
    '--anonymous-auth',
    '--feature-gates=EventedPLEG=true',
    '--system-reserved=cpu=2',
    '--v=4',
  ])
  const { configuration, notices, format } = effectiveConfiguration(flags)
  const { maxPods, podsPerCore, authentication, featureGates, systemReserved, logging } = configuration
  assert.deepEqual([maxPods, podsPerCore, logging.verbosity, format], [30, 4, 4, undefined])
  assert.equal(authentication.x509?.clientCAFile, join(folder, 'ca.crt'))
  assert.equal(authentication.anonymous?.enabled, true)
  assert.deepEqual(featureGates, { MemoryQoS: true, EventedPLEG: true })
  assert.deepEqual(systemReserved, { cpu: '2' })
  assert.equal(notices[0], 'fields of the KubeletConfiguration without effect here: hairpinMode')
})

for (const [args, message] of [
  [['--max-podz=1'], 'unknown flag: --max-podz'],
  [['--max-pods=many'], /^invalid argument "many" for "--max-pods" flag: strconv\.ParseInt/],
  [['--pod-infra-container-image=pause'], /^unknown flag: --pod-infra-container-image: 1\.35 removed it: the runtime/],
  [
    ['--node-labels=node-role.kubernetes.io/web='],
    /^unknown 'kubernetes\.io' or 'k8s\.io' labels specified with --node-labels: \[node-role\.kubernetes\.io\/web\]/,
  ],
  [['--node-labels=a=b c'], /^invalid node labels: 'b c' - /],
  [['--node-ip=home'], '--node-ip "home" is not an IP address'],
  [['--eviction-hard=memory.available=1Gi'], /malformed pair, expect string<string$/],
  [['--register-with-taints=web'], /invalid taint spec: web$/],
  [['--feature-gates=Teleport=true'], 'unrecognized feature gate: Teleport'],
  [['run'], '"kubelet" does not take any arguments, got ["run"]'],
] as const)
  test(`${args.join(' ')} is rejected`, () => assert.throws(() => written(...args), { message }))

test('a wrong value of a flag is an error of the configuration', () => {
  const flags = kubeletFlags(['--oom-score-adj=5000'])
  assert.throws(() => effectiveConfiguration(flags), {
    message: /^failed to validate kubelet configuration: invalid configuration: oomScoreAdj \(--oom-score-adj\) 5000 /,
  })
})

test('flags that change nothing are accepted, and the log has the reason', () => {
  assert.deepEqual(idleFlagLines(kubeletFlags(['--maximum-dead-containers=3', '--hairpin-mode=none'])), [
    '--hairpin-mode changes nothing here: the network is that of CNI and kube-proxy',
  ])
})

test("deprecated flags have upstream's warnings", () => {
  const given = [
    '--maximum-dead-containers=3',
    '--max-pods=5',
    '--provider-id=a',
    '--fail-cgroupv1',
    '--root-dir=/x',
    '-v2',
  ]
  assert.deepEqual(deprecatedFlagLines(kubeletFlags(given)), [
    'Flag --maximum-dead-containers has been deprecated, ' +
      'Use --eviction-hard or --eviction-soft instead. Will be removed in a future version.',
    'Flag --max-pods has been deprecated, ' +
      "This parameter should be set via the config file specified by the Kubelet's --config flag. See " +
      'https://kubernetes.io/docs/tasks/administer-cluster/kubelet-config-file/ for more information.',
  ])
})

test('a gate of kubelets alone is no setting without effect', () => {
  const flags = kubeletFlags(['--feature-gates=ReduceDefaultCrashLoopBackOffDecay=true,EventedPLEG=true'])
  assert.deepEqual(effectiveConfiguration(flags).notices, [
    '--feature-gates=EventedPLEG=true changes nothing here: it only affects kubelets',
  ])
})

test('the help names every flag and examples', () => {
  const help = kubeletHelp('t8s kubelet')
  for (const { name } of configFlags) assert.ok(help.includes(`--${name}`), name)
  assert.match(
    help,
    /t8s kubelet --bootstrap-kubeconfig bootstrap\.conf --kubeconfig kubelet\.conf --rotate-certificates/,
  )
})
