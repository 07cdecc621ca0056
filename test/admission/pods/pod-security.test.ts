/** The Pod Security Standards in kubectl: rejected pods, warnings, and invalid labels of namespaces. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../up/t8s-process.ts'
import { admissionCluster } from './pod-plugins-cluster.ts'

const key = (name: string) => `pod-security.kubernetes.io/${name}`
const privileged = { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] }

test('a namespace that enforces baseline rejects a privileged pod and admits a plain one', async (t) => {
  const { kubectl, namespace, pod, refused } = await admissionCluster(t)
  await namespace('n', { labels: { [key('enforce')]: 'baseline' } })
  await pod('n', {}, { name: 'plain' })
  await refused(
    pod('n', privileged, { name: 'p' }),
    403,
    'pods "p" is forbidden: violates PodSecurity "baseline:latest": privileged (container "c" must not set ' +
      'securityContext.privileged=true)',
  )
  await kubectl.fails(
    'run bad -n n --image i --privileged',
    /Error from server \(Forbidden\): pods "bad" is forbidden: violates PodSecurity "baseline:latest"/,
  )
  // Unchecked fields may always change; a new image is checked again.
  await kubectl.ok('label namespace n --overwrite pod-security.kubernetes.io/enforce=restricted')
  await kubectl.ok('label pod plain -n n a=b')
  await kubectl.fails(
    'set image pod/plain -n n c=other',
    /violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false/,
  )
})

test('raising the level warns of existing pods, also in a dry run', async (t) => {
  const { kubectl, namespace, pod } = await admissionCluster(t)
  await namespace('n')
  for (const name of ['b', 'a', 'c']) await pod('n', privileged, { name })
  const { code, stderr } = await kubectl.run(
    'label --dry-run=server --overwrite namespace n pod-security.kubernetes.io/enforce=baseline',
  )
  assert.equal(code, 0)
  assert.equal(
    stderr,
    'Warning: existing pods in namespace "n" violate the new PodSecurity enforce level ' +
      '"baseline:latest"\nWarning: a (and 2 other pods): privileged\n',
  )
  await kubectl.fails(
    'label namespace n pod-security.kubernetes.io/enforce=low',
    /must be one of privileged, baseline, restricted/,
  )
})

test('pod templates are warned of but not rejected', async (t) => {
  const { kubectl, namespace } = await admissionCluster(t)
  await namespace('n', { labels: { [key('enforce')]: 'baseline', [key('warn')]: 'baseline' } })
  const template = { metadata: { labels: { a: 'b' } }, spec: privileged }
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd', namespace: 'n' },
    spec: { selector: { matchLabels: { a: 'b' } }, template },
  }
  const { code, stderr } = await kubectl.run('create -n n -f -', { input: JSON.stringify(deployment) })
  assert.equal(code, 0)
  assert.match(
    stderr,
    new RegExp(
      String.raw`^Warning: would violate PodSecurity "baseline:latest": privileged \(co` +
        'ntainer "c" must not set securityContext' +
        String.raw`.privileged=true\)$`,
      'm',
    ),
  )
})

test('a configuration file sets defaults and exempts users, namespaces and runtime classes', async (t) => {
  const file = join(temporaryFolder(t), 'admission.yaml')
  const configuration = {
    apiVersion: 'pod-security.admission.config.k8s.io/v1',
    kind: 'PodSecurityConfiguration',
    defaults: { enforce: 'baseline', 'enforce-version': 'v1.30' },
    exemptions: { namespaces: ['free'], runtimeClasses: ['kata'], usernames: ['somebody'] },
  }
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [{ name: 'PodSecurity', configuration }],
    }),
  )
  const { kubectl, namespace, pod, refused, call } = await admissionCluster(
    t,
    `--admission-control-config-file=${file}`,
  )
  await namespace('n')
  await namespace('free')
  await call('POST', '/apis/node.k8s.io/v1/runtimeclasses', { metadata: { name: 'kata' }, handler: 'kata' })
  await refused(
    pod('n', { hostNetwork: true }, { name: 'p' }),
    403,
    'pods "p" is forbidden: violates PodSecurity "baseline:v1.30": host namespaces (hostNetwork=true)',
  )
  await pod('free', { hostNetwork: true })
  await pod('n', { hostNetwork: true, runtimeClassName: 'kata' })
  await kubectl.ok('run exempt -n n --image i --privileged --as somebody --as-group system:masters')
  const { stderr } = await kubectl.run('label namespace free pod-security.kubernetes.io/enforce=restricted')
  assert.match(
    stderr,
    new RegExp(
      'Warning: namespace "free" is exempt from Pod Security, and the policy ' +
        String.raw`\(enforce=restricted:v1\.30\) ` +
        'will be ignored',
    ),
  )
})

test('a server with an invalid configuration does not start', async (t) => {
  const file = join(temporaryFolder(t), 'admission.yaml')
  writeFileSync(
    file,
    'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: PodSecurity\n  ' +
      'configuration:\n    apiVersion: pod-security.admission.config.k8s.io/v1\n    kind: ' +
      'PodSecurityConfiguration\n    defaults: {enforce: low}\n',
  )
  await assert.rejects(
    admissionCluster(t, `--admission-control-config-file=${file}`),
    /PodSecurity invalid: defaults\.enforce: Invalid value: "low": must be one of/,
  )
})
