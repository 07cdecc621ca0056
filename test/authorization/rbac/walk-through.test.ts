/**
 * The walk-through of kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#normal-user as its
 * readers run it: a user requests a certificate, an administrator approves it, and a role grants permissions.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { type TestCluster, testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

/** Creates a key in `NAME.key` and a CertificateSigningRequest for it. */
function signingRequest({ folder }: TestCluster, name: string, subject: string): string {
  const openssl = (...args: readonly string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  openssl('genrsa', '-out', `${name}.key`, '2048')
  openssl('req', '-new', '-key', `${name}.key`, '-out', `${name}.csr`, '-subj', subject)
  return `apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: { name: ${name} }
spec:
  request: ${readFileSync(join(folder, `${name}.csr`)).toString('base64')}
  signerName: kubernetes.io/kube-apiserver-client
  expirationSeconds: 86400
  usages: [client auth]
`
}

for (const program of installedKubectls()) {
  test(`kubectl ${program.version}: a user gets a certificate and the permissions of a role`, async (t) => {
    const cluster = await testCluster(t)
    const admin = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
    const file = (name: string) => join(cluster.folder, name)

    const created = 'certificatesigningrequest.certificates.k8s.io/jane created\n'
    await admin.ok('create -f -', created, { input: signingRequest(cluster, 'jane', '/CN=jane/O=readers') })
    await admin.ok(
      'get csr jane',
      /^NAME .*CONDITION\njane +\d+s +kubernetes\.io\/kube-apiserver-client +kubernetes-admin +.* +Pending\n$/,
    )
    await admin.ok('certificate approve jane', 'certificatesigningrequest.certificates.k8s.io/jane approved\n')
    const issued = () => admin.ok('get csr jane -o jsonpath={.status.certificate}')
    const certificate = await waitFor('the certificate is signed', async () => (await issued()) || undefined)
    await admin.ok('get csr jane', / Approved,Issued\n$/)
    writeFileSync(file('jane.crt'), Buffer.from(certificate, 'base64'))
    const shown = execFileSync('openssl', ['x509', '-in', file('jane.crt'), '-noout', '-subject', '-enddate'], {
      encoding: 'utf8',
    })
    assert.match(shown, /CN ?= ?jane/)
    assert.ok(Date.parse(/notAfter=(.*)/.exec(shown)![1]!) < Date.now() + 86_500_000, shown)

    // A kubeconfig for jane.
    writeFileSync(file('ca.crt'), cluster.client.ca)
    const jane = new Kubectl(program, file('jane.config'), cluster.folder)
    await jane.ok(
      `config set-cluster t8s --server=${cluster.url} --certificate-authority=${file('ca.crt')} --embed-certs`,
      'Cluster "t8s" set.\n',
    )
    await jane.ok(
      `config set-credentials jane --client-key=${file('jane.key')} --client-certificate=${file('jane.crt')} ` +
        '--embed-certs',
      'User "jane" set.\n',
    )
    await jane.ok('config set-context jane --cluster=t8s --user=jane', 'Context "jane" created.\n')
    await jane.ok('config use-context jane', 'Switched to context "jane".\n')
    if (program.minor >= 28) {
      assert.match(
        await jane.ok('auth whoami'),
        /^ATTRIBUTE +VALUE\nUsername +jane\nGroups +\[readers system:authenticated\]\n/,
      )
    }

    const refused = (namespace: string) =>
      'Error from server (Forbidden): pods is forbidden: User "jane" cannot list resource "pods" in API group "" ' +
      `in the namespace "${namespace}"\n`
    await jane.fails('get pods', refused('default'))
    await admin.ok(
      'create role pod-reader --verb=get,list,watch --resource=pods',
      'role.rbac.authorization.k8s.io/pod-reader created\n',
    )
    await admin.ok(
      'create rolebinding read-pods --role=pod-reader --user=jane',
      'rolebinding.rbac.authorization.k8s.io/read-pods created\n',
    )
    await admin.ok('run web --image=nginx', 'pod/web created\n')
    await jane.ok('get pods', /^NAME +READY +STATUS +RESTARTS +AGE\nweb +0\/1 +Pending +0 +\d+s\n$/)
    await jane.fails('get pods -n kube-system', refused('kube-system'))
    await jane.fails(
      'get pods -A',
      'Error from server (Forbidden): pods is forbidden: User "jane" cannot list resource "pods" in API group "" ' +
        'at the cluster scope\n',
    )
    await jane.fails(
      'delete pod web',
      new RegExp(
        String.raw`^Error from server \(Forbidden\): pods "web" is forbidden: User "jane" cannot delete resource ` +
          '"pods" in API group ""',
      ),
    )
    await jane.fails('get secrets', /User "jane" cannot list resource "secrets"/)
    await jane.ok('auth can-i list pods', 'yes\n')
    assert.equal((await jane.fails('auth can-i list pods -n kube-system', '')).stdout, 'no\n')
    assert.match(await jane.ok('auth can-i --list'), /^pods +\[\] +\[\] +\[get list watch\]$/m)
    await admin.ok('delete rolebinding read-pods')
    await jane.fails('get pods', refused('default'))
  })

  test(`kubectl ${program.version}: a denied request is not signed, and the requester cannot approve it`, async (t) => {
    const cluster = await testCluster(t)
    const admin = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
    await admin.ok('create -f -', undefined, { input: signingRequest(cluster, 'eve', '/CN=eve') })
    await admin.ok(
      'create clusterrole ask --verb=* --resource=certificatesigningrequests,certificatesigningrequests/approval',
    )
    await admin.ok('create clusterrolebinding ask --clusterrole=ask --user=eve')
    await admin.fails(
      'certificate approve eve --as eve',
      'Error from server (Forbidden): certificatesigningrequests.certificates.k8s.io "eve" is forbidden: user ' +
        'not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"\n',
    )
    await admin.ok('certificate deny eve', 'certificatesigningrequest.certificates.k8s.io/eve denied\n')
    await admin.ok('get csr eve', / Denied\n$/)
    // The decision is final.
    await admin.fails('certificate approve eve', /Denied|denied|may not|immutable|Forbidden|invalid/i)
    assert.equal(await admin.ok('get csr eve -o jsonpath={.status.certificate}'), '')
    await admin.fails(
      'create -f -',
      /use of kubernetes\.io\/kube-apiserver-client signer with system:masters group is not allowed/,
      {
        input: signingRequest(cluster, 'root', '/CN=eve/O=system:masters'),
      },
    )
  })
}
