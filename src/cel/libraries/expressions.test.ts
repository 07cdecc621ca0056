import assert from 'node:assert/strict'
import { test } from 'node:test'
import { environment } from '../index.ts'
import { AuthorizerValue, authorizerType, type CheckAuthorizer, kubernetesLibraries } from './index.ts'

const always: CheckAuthorizer = {
  checkPath: () => ({ allowed: true, reason: '' }),
  checkResource: () => ({ allowed: true, reason: '' }),
  serviceAccount: () => always,
}

const kubernetes = environment({ libraries: kubernetesLibraries, variables: { authorizer: authorizerType } })

function programOf(source: string) {
  const compiled = kubernetes.compile(source)
  if ('errors' in compiled) throw new Error(compiled.errors)
  return compiled.program
}

const outcomeOf = (source: string) => programOf(source).evaluate({ authorizer: new AuthorizerValue(always) })

/** Expressions whose value is true. */
const truths: readonly string[] = [
  `[1, 2, 3].isSorted() && !['b', 'a'].isSorted() && [].isSorted()`,
  "[1, 3].sum() == 4 && [1.0, 3.0].sum() == 4.0 && [duration('1m'), duration('1s')].sum() == duration('1m1s') && " +
    '[].sum() == 0',
  `[1, 3].min() == 1 && ['a', 'b'].max() == 'b' && [1u, 2u].sum() == 3u`,
  `[1, 2, 2, 3].indexOf(2) == 1 && ['a', 'b', 'b', 'c'].lastIndexOf('b') == 2 && [1.0].indexOf(1.1) == -1`,
  "'abc 123'.find('[0-9]+') == '123' && '123 abc 456'.findAll('[0-9]+') == ['123', '456'] && '123 abc " +
    "456'.findAll('[0-9]+', 1) == ['123']",
  "url('https://example.com:80/').getHost() == 'example.com:80' && " +
    "url('https://example.com/path?k1=a&k2=b&k2=c').getQuery() == {'k1': ['a'], 'k2': ['b', 'c']}",
  `isURL('/absolute-path') && !isURL('../relative-path') && url('/a') == url('/a') && url('/a') != url('/b')`,
  "quantity('50k').add(20).sub(quantity('100k')).sub(-50000) == quantity('20') && " +
    "quantity('150Mi').isGreaterThan(quantity('100Mi'))",
  `isQuantity('1.3G') && !isQuantity('200K') && sign(quantity('-1')) == -1 && quantity('50k').asInteger() == 50000`,
  "ip('127.0.0.1').family() == 4 && ip('::1').isLoopback() && isIP('::1') && !isIP(':::1') && " +
    "ip.isCanonical('127.0.0.1')",
  `type(ip('::1')) == net.IP && type(cidr('::/0')) == net.CIDR && string(ip('2001:DB8::1')) == '2001:db8::1'`,
  `cidr('192.168.0.0/16').containsCIDR('192.168.10.0/24') && cidr('192.168.0.0/24').containsIP(ip('192.168.0.1'))`,
  "cidr('192.168.0.1/24').masked() == cidr('192.168.0.0/24') && cidr('192.168.0.1/24').ip() == ip('192.168.0.1') " +
    "&& cidr('::1/128').prefixLength() == 128",
  "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('v01.01', true) == semver('1.1.0') && isSemver('1.0', " +
    "true) && !isSemver('1.0')",
  "!format.dns1123Label().validate('my-label').hasValue() && format.named('uuid').value().validate('x').value() " +
    "== ['does not match the UUID format']",
  `!format.named('unknown').hasValue() && format.dns1035Label() == format.named('dns1035Label').value()`,
  "'hello'.charAt(4) == 'o' && 'a,b'.split(',').join('-') == 'a-b' && ' x '.trim().upperAscii() == 'X' && " +
    "'tacocat'.substring(0, 4) == 'taco'",
  "'%s has %d of %.1f: %s'.format([dyn('x'), 2, 0.5, [1, 2]]) == 'x has 2 of 0.5: [1, 2]' && strings.quote('a\"') " +
    '== \'"a\\\\""\'',
  `sets.contains([1, 2, 3], [2]) && sets.equivalent([1], [1, 1]) && !sets.intersects([1], [2])`,
  `[1, 2, 3, 4].slice(1, 3) == [2, 3] && [[1], [2, 3]].flatten() == [1, 2, 3] && [3, 1, 2].sort() == [1, 2, 3]`,
  "lists.range(3).sortBy(e, -e) == [2, 1, 0] && [{'n': 'b'}, {'n': 'a'}].sortBy(e, e.n).map(e, e.n) == ['a', " +
    "'b'] && [1, 1, 2].distinct().reverse() == [2, 1]",
  `authorizer.group('apps').resource('deployments').namespace('x').labelSelector('a=b').check('create').allowed()`,
  "authorizer.path('/healthz').check('get').allowed() && authorizer.serviceAccount('ns', " +
    "'sa').path('/x').check('get').reason() == ''",
]

for (const source of truths) {
  test(source, () => {
    const outcome = outcomeOf(source)
    assert.ok(
      'value' in outcome && outcome.value === true,
      JSON.stringify('error' in outcome ? outcome.error : String(outcome.value)),
    )
  })
}

test("errors have the libraries' messages", () => {
  const faults: readonly (readonly [string, string])[] = [
    ["ip('x')", 'IP Address "x" parse error during conversion from string: ParseAddr("x"): unable to parse IP'],
    ["semver('v1')", 'No Major.Minor.Patch elements found'],
    ['[].min()', 'min called on empty list'],
    ["'abc'.find('(')", 'Illegal regex: error parsing regexp: missing closing ): `(`'],
    ["authorizer.path(' ')", 'path must not be empty'],
  ]
  for (const [source, message] of faults) {
    const compiled = kubernetes.compile(source)
    if ('errors' in compiled) continue
    const outcome = compiled.program.evaluate({ authorizer: new AuthorizerValue(always) })
    assert.ok(
      'error' in outcome && outcome.error === message,
      `${source}: ${JSON.stringify('error' in outcome ? outcome.error : '')}`,
    )
  }
})

test('calls with a wrong type do not compile', () => {
  for (const source of [
    'isSemver([1, 2, 3])',
    'cidr(192168)',
    "quantity('1').sign()",
    '[{}].isSorted()',
    "ip('::1').size()",
    'format.unknown()',
  ]) {
    const compiled = kubernetes.compile(source)
    assert.ok('errors' in compiled, source)
    assert.match(compiled.errors, /found no matching overload for|undeclared reference/, source)
  }
})

/**
 * Expression, minimum and maximum estimate, and cost: upstream's numbers. Constant lists are created at compile time
 * and cost nothing.
 */
const costs: readonly (readonly [string, number, number, number])[] = [
  ['[1, 2, 3, 4, 5].sum()', 15, 15, 5],
  ['[1, 2, 3, 4, 5].indexOf(3)', 15, 15, 5],
  ["'01234567890123456789012345678901234567890123456789'.indexOf('123')", 5, 5, 5],
  ["url('https:://kubernetes.io/').getScheme()", 4, 4, 4],
  ["ip('192.168.0.1')", 2, 2, 2],
  ["ip('2001:db8:3333:4444:5555:6666:7777:8888').isGlobalUnicast()", 5, 5, 5],
  ["ip.isCanonical('2001:db8:3333:4444:5555:6666:7777:8888')", 8, 8, 8],
  ["cidr('192.168.0.0/16').masked()", 3, 3, 3],
  ["cidr('192.168.0.0/16').ip()", 3, 3, 3],
  ["cidr('192.168.0.0/16').containsCIDR(cidr('192.0.0.0/30'))", 7, 11, 7],
  ["cidr('192.168.0.0/16').containsCIDR('192.168.0.0/16')", 7, 11, 7],
  ["cidr('192.168.0.0/16').containsIP('192.169.0.1')", 5, 8, 5],
  ["cidr('2001:db8::/32').containsIP(ip('2001:db8:3333:4444:5555:6666:7777:8888'))", 7, 10, 7],
  ["'ABCDEFGHIJ abcdefghij'.lowerAscii()", 3, 3, 3],
  ["'ABCDEFGHIJ abcdefghij'.lowerAscii() == 'abcdefghij ABCDEFGHIJ'.lowerAscii()", 7, 9, 9],
  ["strings.quote('ABCDEFGHIJ abcdefghij')", 3, 3, 3],
  ["strings.quote('ABCDEFGHIJ abcdefghij') == strings.quote('ABCDEFGHIJ abcdefghij')", 7, 11, 9],
  ["'abc 123 def 123'.replace('', 'x')", 3, 3, 3],
  ["'abc 123 def 123'.split(' ', 1)", 3, 3, 3],
  ["'abc 123 def 123'.substring(5, 8)", 2, 2, 2],
  ["'abc 123 def 123'.findAll('123', 1)", 2, 2, 2],
  ["'str is %s and some more'.format(['filler'])", 13, 13, 3],
  ["authorizer.path('/healthz').check('get').allowed()", 350003, 350003, 350003],
  [
    "authorizer.group('apps').resource('deployments').subresource('status').namespace('test').name('backend')" +
      ".check('create').allowed()",
    350007,
    350007,
    350007,
  ],
  ['quantity("200M").compareTo(quantity("0.2G")) > 0', 4, 4, 4],
  ['quantity("50k").add(20).sub(quantity("100k")).sub(-50000).asInteger() > 0', 7, 7, 7],
  ['quantity("200M") == quantity("0.2G")', 3, 3, 3],
  ["ip('192.168.0.1') == ip('192.168.0.1')", 5, 5, 5],
  ["cidr('192.168.0.0/16') == cidr('2001:db8::/32')", 5, 5, 5],
  ["url('https:://kubernetes.io/') == url('https:://kubernetes.io/')", 7, 9, 7],
  ["url('https:://kubernetes.io/') == url('http://x.b')", 5, 5, 5],
  ["semver('1.2.3') == semver('1.2.3')", 3, 3, 3],
  ['sets.contains([1, 2, 3, 4], [2, 3])', 29, 29, 9],
  ['sets.equivalent([1, 2, 3], [3, 2, 1])', 39, 39, 19],
  ['!sets.intersects([1], [])', 22, 22, 2],
]

for (const [source, min, max, cost] of costs) {
  test(`${source} costs ${cost}`, () => {
    const { estimatedCost } = programOf(source)
    assert.deepEqual({ ...estimatedCost, cost: outcomeOf(source).cost }, { min, max, cost })
  })
}

test('the cost of join at run time depends on the result', () => {
  const list = "['aa', 'bb', 'cc', 'd', 'e', 'f', 'g', 'h', 'i', 'j']"
  assert.equal(outcomeOf(`${list}.join(' ')`).cost, 5)
  assert.equal(outcomeOf(`${list}.join()`).cost, 3)
  assert.equal(outcomeOf("['012345678901', '012345678901'].isSorted()").cost, 2)
})
