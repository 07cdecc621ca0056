/** A fixture for admission tests: a cluster, kubectl, and namespaces with a default service account. */
import assert from 'node:assert/strict'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { type Answer, type Lifetime, type TestCluster, testCluster } from '../../support/test-cluster.ts'

export interface AdmissionCluster extends TestCluster {
  readonly kubectl: Kubectl
  /** Creates a namespace with a default account. */
  namespace(name: string, metadata?: object): Promise<void>
  /** Creates a pod with one container and returns it. */
  pod(namespace: string, spec?: object, metadata?: object): Promise<Answer & { readonly spec: PodSpec }>
  /** Asserts that the call is rejected with this message. */
  refused(request: Promise<unknown>, status: number, message: string): Promise<void>
}

/** The fields of a pod that tests check. */
export interface PodSpec {
  readonly [field: string]: unknown
}

/** A cluster with these flags and with ServiceAccount enabled. */
export async function admissionCluster(t: Lifetime, ...apiServerFlags: readonly string[]): Promise<AdmissionCluster> {
  const cluster = await testCluster(t, { apiServerFlags })
  const program = installedKubectls().at(-1)
  assert.ok(program)
  let pods = 0
  return {
    ...cluster,
    kubectl: new Kubectl(program, cluster.kubeconfigFile, cluster.folder),
    async namespace(name, metadata = {}) {
      await cluster.call('POST', '/api/v1/namespaces', { metadata: { name, ...metadata } })
      // A controller may have created it already.
      await cluster
        .call('POST', `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } })
        .catch((error: Error) => assert.match(error.message, /409/))
    },
    async pod(namespace, spec = {}, metadata = {}) {
      const body = {
        metadata: { name: `p${pods++}`, ...metadata },
        spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
      }
      return (await cluster.call('POST', `/api/v1/namespaces/${namespace}/pods`, body)) as Answer & {
        readonly spec: PodSpec
      }
    },
    refused: (request, status, message) => assert.rejects(request, (error: Error) => said(error, status, message)),
  }
}

function said({ message }: Error, status: number, expected: string): true {
  const [, code, body] = /: (\d+) (.*)$/s.exec(message) ?? []
  const answer = JSON.parse(body ?? '{}') as { readonly message?: string }
  assert.deepEqual([Number(code), answer.message], [status, expected])
  return true
}
