/**
 * Admission policies and match conditions that would take forever on a request: each has a cost budget, and other
 * clients are served meanwhile.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import { type Answer, ask } from '../support/ask.ts'
import { type AttackedServer, attackedServer } from '../support/attacked-server.ts'
import { whileOthersAreServed } from '../support/other-clients.ts'

const group = '/apis/admissionregistration.k8s.io/v1'
const configMaps = '/api/v1/namespaces/default/configmaps'

const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }]

async function create(server: AttackedServer, path: string, object: object): Promise<Answer> {
  const answer = await ask(server, 'POST', path, JSON.stringify(object))
  assert.equal(answer.status, 201, answer.text)
  return answer
}

async function createPolicy(server: AttackedServer, name: string, spec: object): Promise<void> {
  await create(server, `${group}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: { matchConstraints: { resourceRules }, ...spec },
  })
  await create(server, `${group}/validatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  })
}

const configMap = (data: Readonly<Record<string, string>>): string =>
  JSON.stringify({ metadata: { generateName: 'a-' }, data })

/** Many keys, so that nested loops take long. */
const manyKeys = configMap(Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`key-${i}`, 'a'])))
const cubic = 'object.data.all(a, object.data.all(b, object.data.all(c, a != b || b != c || a == c)))'

/** Sends the request until it is rejected: a new policy takes a moment to be in effect. */
const firstRejection = (server: AttackedServer, body: string): Promise<Answer> =>
  waitFor('the request is rejected', async () => {
    const answer = await ask(server, 'POST', configMaps, body)
    return answer.status === 201 ? undefined : answer
  })

test('nested loops in validations, variables and match conditions exceed the budget', {
  timeout: 110_000,
}, async (t) => {
  const server = await attackedServer(t)
  await createPolicy(server, 'validations', {
    validations: Array.from({ length: 20 }, (_, i) => ({ expression: `${cubic} || ${i} == 0` })),
  })
  await whileOthersAreServed(t, server, async () => {
    const { status, text } = await firstRejection(server, manyKeys)
    assert.equal(status, 422)
    assert.match(text, /cost limit exceeded|running out of cost budget/)
    // Twenty concurrent requests affect other clients no more than one.
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(server, 'POST', configMaps, manyKeys)))
    assert.ok(answers.every((answer) => answer.status === 422))
  })
  await ask(server, 'DELETE', `${group}/validatingadmissionpolicybindings/validations`, '')
  await createPolicy(server, 'variables', {
    variables: Array.from({ length: 10 }, (_, i) => ({ name: `v${i}`, expression: cubic })),
    validations: [{ expression: Array.from({ length: 10 }, (_, i) => `variables.v${i}`).join(' && ') }],
  })
  await createPolicy(server, 'conditions', {
    matchConditions: [{ name: 'c', expression: cubic }],
    validations: [{ expression: 'true' }],
  })
  await whileOthersAreServed(t, server, async () => {
    assert.match((await firstRejection(server, manyKeys)).text, /cost limit exceeded|running out of cost budget/)
  })
})

test('expensive patterns, strings and lists stay within the budget', { timeout: 110_000 }, async (t) => {
  const server = await attackedServer(t)
  const expressions = [
    "object.data.text.matches('^(a+)+$') && object.data.text.matches('(x+x+)+y')",
    "object.data.text.replace('', object.data.text).replace('', object.data.text).size() > 0",
    "object.data.text.split('').all(a, object.data.text.split('').all(b, a == b))",
    '[1,2,3,4,5,6,7,8,9,10].map(a, object.data.text + object.data.text).all(a, a.contains(object.data.text))',
    "object.data.text.findAll('(a?){20}a{20}').size() > 0",
    "('%s%s'.format([object.data.text, object.data.text])).size() > 0 && " +
      'object.data.text.lowerAscii().upperAscii().trim().size() > 0',
    "quantity(object.data.text).isGreaterThan(quantity('1'))",
    'semver(object.data.text).major() > 0',
    "cidr(object.data.text).containsIP('1.2.3.4')",
    'url(object.data.text).getHost() == object.data.text',
  ]
  const text = 'a'.repeat(300_000)
  for (const [index, expression] of expressions.entries()) {
    await createPolicy(server, `p${index}`, {
      failurePolicy: 'Ignore',
      validations: [
        { expression: `!(${expression})` },
        { expression: expression.replaceAll('data.text', 'data.other') },
      ],
    })
  }
  await createPolicy(server, 'last', { validations: [{ expression: "object.data.last != 'x'" }] })
  await whileOthersAreServed(t, server, async () => {
    const answer = await firstRejection(server, configMap({ text, other: text, last: 'x' }))
    assert.ok([403, 422].includes(answer.status), answer.text.slice(0, 500))
  })
})

test('webhook match conditions over budget apply the failure policy without a call', async (t) => {
  const server = await attackedServer(t)
  await create(server, `${group}/validatingwebhookconfigurations`, {
    metadata: { name: 'expensive' },
    webhooks: [
      {
        name: 'expensive.example.com',
        clientConfig: { url: 'https://127.0.0.1:1/never' },
        rules: resourceRules,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        matchConditions: Array.from({ length: 64 }, (_, i) => ({
          name: `c${i}`,
          expression: `${cubic} && ${i} < 100`,
        })),
      },
    ],
  })
  await whileOthersAreServed(t, server, async () => {
    const { status, text } = await firstRejection(server, manyKeys)
    assert.equal(status, 403)
    assert.match(text, /cost limit exceeded|running out of cost budget/)
    assert.doesNotMatch(text, /connection refused/)
  })
})
