/** The files that `npm init typernetes` writes, for a test runner. */

/** @typedef {'node' | 'vitest' | 'jest'} Runner */

/** @type {Readonly<Record<Runner, { imports: string, kit: string, setup: string, check: string }>>} */
const parts = {
  node: {
    imports: "import { after, assert, before, test } from 'node:test'",
    kit: 'registerMatchers, startTestCluster',
    setup: 'registerMatchers(assert)',
    check: 't.assert.toBeReady(deployment)',
  },
  vitest: {
    imports: "import { afterAll, beforeAll, expect, test } from 'vitest'",
    kit: 'matchers, startTestCluster',
    setup: 'expect.extend(matchers)',
    check: 'expect(deployment).toBeReady()',
  },
  jest: {
    imports: "import { afterAll, beforeAll, expect, test } from '@jest/globals'",
    kit: 'matchers, startTestCluster',
    setup: 'expect.extend(matchers)',
    check: 'expect(deployment).toBeReady()',
  },
}

/**
 * The first test: its path and its text. `.mjs` is an ECMAScript module whatever the type of the package is.
 * @param {Runner} runner
 */
export const firstTest = (runner) => ({ path: 'test/cluster.test.mjs', text: testText(runner) })

/** @param {Runner} runner */
function testText(runner) {
  const { imports, kit, setup, check } = parts[runner]
  const isNode = runner === 'node'
  const [before, after] = isNode ? ['before', 'after'] : ['beforeAll', 'afterAll']
  // Others give a hook and a test five seconds.
  const end = isNode ? '})' : '}, 30_000)'
  return `${imports}
import { ${kit} } from 'typernetes/test'

${setup}

// A cluster in memory with a simulated node: pods become ready, but no program runs in them.
let cluster
${before}(async () => {
  cluster = await startTestCluster({ nodes: 1, scheduler: true })
${end}
${after}(() => cluster?.stop())

test('a Deployment becomes ready', async (${isNode ? 't' : ''}) => {
  await cluster.apply(\`
    apiVersion: apps/v1
    kind: Deployment
    metadata: { name: web }
    spec:
      replicas: 2
      selector: { matchLabels: { app: web } }
      template:
        metadata: { labels: { app: web } }
        spec: { containers: [{ name: web, image: nginx }] }
  \`)
  const deployment = await cluster.waitFor('deployment/web', 'Available')
  ${check}
${end}
`
}

/** The configuration of Jest for ECMAScript modules, for a project without one. */
export const jestConfig = {
  path: 'jest.config.json',
  text: '{ "testMatch": ["**/*.test.?(m)js"], "transform": {} }\n',
}

/** The workflow of GitHub Actions that runs the tests. */
export const workflow = {
  path: '.github/workflows/test.yml',
  text: `name: test
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v5
        with: { node-version: 24, cache: npm }
      - run: npm ci
      - run: npm test
`,
}

/** @type {Readonly<Record<Runner, string>>} */
const testCommands = {
  node: 'node --test',
  vitest: 'vitest run',
  // Jest runs ECMAScript modules only with this flag.
  jest: 'node --experimental-vm-modules node_modules/jest/bin/jest.js',
}

/**
 * The command of the script `test`.
 * @param {Runner} runner
 */
export const testCommand = (runner) => testCommands[runner]
