/** Tokens used by real clients: kubectl, and the official clients as in a pod. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import { AuthenticationV1Api, type Cluster, KubeConfig, type User } from '@kubernetes/client-node'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'

const accounts = '/api/v1/namespaces/default/serviceaccounts'

async function robotToken(cluster: TestCluster): Promise<string> {
  await cluster.call('POST', accounts, { metadata: { name: 'robot' } })
  const { status } = await cluster.call('POST', `${accounts}/robot/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {},
  })
  return (status as { token: string }).token
}

/** kubectl of the newest version available. */
const kubectl = (cluster: TestCluster, kubeconfigFile = cluster.kubeconfigFile): Kubectl =>
  new Kubectl(installedKubectls().at(-1)!, kubeconfigFile, cluster.folder)

test('kubectl creates tokens, uses them, and is rejected when they expire', async (t) => {
  const cluster = await testCluster(t)
  const admin = kubectl(cluster)
  await admin.ok('create serviceaccount robot')
  const token = (
    await admin.ok('create token robot --duration 20m --audience https://kubernetes.default.svc.cluster.local')
  ).trim()
  await admin.ok(`create token robot --duration 1m`).then(
    () => assert.fail('a minute is too short'),
    (error: Error) => assert.match(error.message, /may not specify a duration less than 10 minutes/),
  )
  // A kubeconfig without the administrator's certificate, which would take precedence over the token.
  const file = join(cluster.folder, 'robot.kubeconfig')
  const bare = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'c',
        cluster: {
          server: cluster.url,
          'certificate-authority-data': Buffer.from(cluster.client.ca).toString('base64'),
        },
      },
    ],
  }
  writeFileSync(
    file,
    JSON.stringify({
      ...bare,
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'c',
      users: [{ name: 'u', user: { token } }],
    }),
  )
  const robot = kubectl(cluster, file)
  const output = await robot.ok('auth whoami')
  assert.match(output, /^Username +system:serviceaccount:default:robot$/m)
  assert.match(output, /^Groups +\[system:serviceaccounts system:serviceaccounts:default system:authenticated\]$/m)
  assert.match(output, /^Extra: authentication\.kubernetes\.io\/credential-id +\[JTI=[0-9a-f-]{36}\]$/m)
  assert.match((await robot.run('auth whoami --token=nonsense')).stderr, /Unauthorized|You must be logged in/)
  assert.match(
    await admin.ok('auth whoami'),
    /^Extra: authentication\.kubernetes\.io\/credential-id +\[X509SHA256=[0-9a-f]{64}\]$/m,
  )
  assert.match(
    await admin.ok('auth whoami --as system:serviceaccount:default:robot'),
    /^Username +system:serviceaccount:default:robot$/m,
  )
  await admin.ok('delete serviceaccount robot')
  assert.match((await robot.run('auth whoami')).stderr, /Unauthorized|You must be logged in/)
})

test('@kubernetes/client-node reads the token of its pod from a file', async (t) => {
  const cluster = await testCluster(t)
  const tokenFile = join(cluster.folder, 'token')
  writeFileSync(tokenFile, await robotToken(cluster))
  const config = new KubeConfig()
  const at: Cluster = {
    name: 'inCluster',
    server: cluster.url,
    caData: Buffer.from(cluster.client.ca).toString('base64'),
    skipTLSVerify: false,
  }
  const user: User = { name: 'inClusterUser', authProvider: { name: 'tokenFile', config: { tokenFile } } }
  config.loadFromOptions({
    clusters: [at],
    users: [user],
    contexts: [{ name: 'c', cluster: at.name, user: user.name }],
    currentContext: 'c',
  })
  const { status } = await config.makeApiClient(AuthenticationV1Api).createSelfSubjectReview({ body: {} })
  assert.equal(status?.userInfo?.username, 'system:serviceaccount:default:robot')
})

const python = '/usr/bin/python3'
const missing = spawnSync(python, ['-c', 'import kubernetes']).status !== 0
const skip = missing && `the Python client is missing: apt-get install python3-kubernetes (for ${python})`

/** Its files are created by the test, since there is no kubelet to mount them. */
const script = `
import os, sys
from kubernetes import client
from kubernetes.config.incluster_config import InClusterConfigLoader
folder = sys.argv[1]
InClusterConfigLoader(token_filename=folder + '/token', cert_filename=folder + '/ca.crt').load_and_set()
review = client.ApiClient().call_api('/apis/authentication.k8s.io/v1/selfsubjectreviews', 'POST',
    body={'apiVersion': 'authentication.k8s.io/v1', 'kind': 'SelfSubjectReview'}, auth_settings=['BearerToken'],
    header_params={'Content-Type': 'application/json'}, response_type='object')
print(review[0]['status']['userInfo']['username'])
`

test('the Python client in a pod authenticates with the token of its account', { skip }, async (t) => {
  const cluster = await testCluster(t)
  const folder = join(cluster.folder, 'serviceaccount')
  mkdirSync(folder)
  writeFileSync(join(folder, 'token'), await robotToken(cluster))
  writeFileSync(join(folder, 'ca.crt'), cluster.client.ca)
  const env = { ...process.env, KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(cluster.port) }
  const { stdout } = await promisify(execFile)(python, ['-B', '-c', script, folder], { env })
  assert.equal(stdout.trim(), 'system:serviceaccount:default:robot')
})
