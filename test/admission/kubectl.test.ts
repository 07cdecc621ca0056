/** Admission in kubectl: configurations are applied, rejections and warnings printed, policies described. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { admissionWebhooks } from './webhooks/webhook.ts'

const policies = `
apiVersion: v1
kind: ConfigMap
metadata: { name: limits, namespace: default }
data: { replicas: "2" }
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: replicas }
spec:
  failurePolicy: Fail
  paramKind: { apiVersion: v1, kind: ConfigMap }
  matchConstraints:
    resourceRules:
    - { apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments] }
  variables:
  - { name: most, expression: "int(params.data.replicas)" }
  validations:
  - expression: "object.spec.replicas <= variables.most"
    messageExpression: "'at most ' + string(variables.most) + ' replicas'"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: replicas-binding }
spec:
  policyName: replicas
  validationActions: [Deny]
  paramRef: { name: limits, namespace: default, parameterNotFoundAction: Deny }
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: careful }
spec:
  matchConstraints:
    resourceRules:
    - { apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments] }
  validations:
  - { expression: "has(object.metadata.labels) && 'app' in object.metadata.labels", message: "say whose it is" }
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: careful-binding }
spec: { policyName: careful, validationActions: [Warn, Audit] }
`

test('kubectl applies policies and webhooks, prints their messages, and describes them', async (t) => {
  const program = installedKubectls().at(-1)!
  const [cluster, webhooks] = await Promise.all([testCluster(t), admissionWebhooks(t)])
  const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
  await kubectl.ok(
    'apply -f -',
    /validatingadmissionpolicybinding.admissionregistration.k8s.io\/careful-binding created/,
    { input: policies },
  )
  await kubectl.fails(
    'create deployment big --image=i --replicas=3',
    new RegExp(
      `deployments.apps "big" is forbidden: ValidatingAdmissionPolicy 'replic` +
        "as' with binding 'replicas-binding' " +
        'denied request: at most 2 replicas',
    ),
  )
  const { code, stderr } = await kubectl.run('create deployment small --image=i --replicas=2')
  assert.equal(code, 0)
  assert.equal(stderr, '')
  const bare =
    '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"bare"},"spec":{"replicas":1,' +
    '"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},' +
    '"spec":{"containers":[{"name":"c","image":"i"}]}}}}'
  const warned = await kubectl.run('create -f -', { input: bare })
  assert.equal(warned.code, 0)
  assert.match(
    warned.stderr,
    new RegExp(
      "^Warning: Validation failed for ValidatingAdmissionPolicy 'careful' wi" +
        "th binding 'careful-binding': " +
        'say whose it is$',
      'm',
    ),
  )
  await waitFor('the policy has a status', async () =>
    /Observed Generation: +1/.test(await kubectl.ok('describe validatingadmissionpolicy replicas')),
  )
  await kubectl.ok(
    'get validatingadmissionpolicy',
    /NAME +VALIDATIONS +PARAMKIND +AGE\ncareful +1 +<unset> .*\nreplicas +1 +v1\/ConfigMap /,
  )
  await kubectl.ok(
    'get validatingadmissionpolicybinding',
    /careful-binding +careful +<unset> .*\nreplicas-binding +replicas +default\/limits /,
  )

  const configuration = JSON.stringify({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'hooks' },
    webhooks: [
      {
        name: 'names.example.com',
        clientConfig: webhooks.clientConfig('/names'),
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'DELETE'], resources: ['configmaps'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  })
  await kubectl.ok('apply -f -', 'validatingwebhookconfiguration.admissionregistration.k8s.io/hooks created\n', {
    input: configuration,
  })
  await webhooks.behave('/names', { response: { warnings: ['names are short here', 'say "why"'] } })
  const made = await kubectl.run('create configmap a')
  assert.equal(made.stderr, 'Warning: names are short here\nWarning: say "why"\n')
  await webhooks.behave('/names', {
    response: { allowed: false, status: { code: 403, reason: 'Forbidden', message: 'not today' } },
  })
  await kubectl.fails('create configmap b', /admission webhook "names.example.com" denied the request: not today/)
  await kubectl.fails('delete configmap --all', /admission webhook "names.example.com" denied the request: not today/)
  await kubectl.ok('delete validatingwebhookconfiguration hooks')
  await kubectl.ok('delete configmap a')
})
