/** Start errors of `t8s controller-manager`: one sentence with a next step, exit code 1, no stack trace. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testCluster } from '../support/test-cluster.ts'
import { t8s, temporaryFolder } from '../up/t8s-process.ts'

function refused(t: TestContext, args: readonly string[], says: RegExp): void {
  const { code, stderr } = t8s(['controller-manager', ...args], {
    cwd: temporaryFolder(t),
    env: { KUBERNETES_SERVICE_HOST: '', KUBECONFIG: '' },
  })
  assert.equal(code, 1, stderr)
  assert.match(stderr, says)
  assert.doesNotMatch(stderr, /^\s+at /m)
}

test('invalid flags, controllers and files are named', async (t) => {
  const { kubeconfigFile } = await testCluster(t, { controllers: false })
  const empty = join(temporaryFolder(t), 'empty.pem')
  writeFileSync(empty, '')
  refused(t, [], /^t8s: no cluster is given: use --kubeconfig/)
  refused(t, ['--kubeconfig', '/no/such/file'], /there is no kubeconfig at \/no\/such\/file/)
  refused(t, ['--kubeconfg', kubeconfigFile], /unknown flag: --kubeconfg/)
  refused(
    t,
    ['--kubeconfig', kubeconfigFile, '--controllers=garbage'],
    /"garbage" is not in the list of known controllers: choose from \*, /,
  )
  refused(
    t,
    ['--kubeconfig', kubeconfigFile, '--concurrent-gc-syncs=x'],
    /invalid argument "x" for "--concurrent-gc-syncs" flag/,
  )
  refused(
    t,
    ['--kubeconfig', kubeconfigFile, '--root-ca-file', empty],
    /empty\.pem holds no certificate in PEM form: check --root-ca-file/,
  )
  refused(
    t,
    ['--kubeconfig', kubeconfigFile, '--service-account-private-key-file', empty],
    /holds no private key in PEM form: check --service-account-private-key-file/,
  )
  refused(
    t,
    ['--kubeconfig', kubeconfigFile, '--cluster-signing-key-file', empty],
    /--cluster-signing-cert-file and --cluster-signing-key-file go together/,
  )
})

test('help lists flags with examples, and --version prints the Kubernetes version', () => {
  const help = t8s(['controller-manager', '--help']).stdout
  assert.match(
    help,
    /^Examples:\n {2}t8s controller-manager --kubeconfig kubeconfig --use-service-account-credentials$/m,
  )
  assert.match(help, /^ {6}--secure-port int +Port to listen on; 0 for none\. \(default 10257\)$/m)
  assert.match(t8s(['controller-manager', '--version']).stdout, /^Kubernetes v1\.36\.2/)
})
