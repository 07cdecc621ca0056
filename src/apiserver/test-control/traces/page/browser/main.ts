/** The page of a trace: tabs, and the view of the tab that the address names. */
import { waitingPods } from '../model/pod-waits.ts'
import { element, hashOf, partsOf } from './element.ts'
import { objectsView } from './objects-view.ts'
import { overview } from './overview.ts'
import { podsView } from './pods-view.ts'
import { requestsView } from './requests-view.ts'
import { timeline } from './timeline.ts'
import { readTrace, type Trace } from './trace.ts'
import type { View } from './view.ts'

interface Tab {
  readonly id: string
  readonly title: string
  readonly make: () => View
}

function show(trace: Trace): void {
  const { data, histories } = trace
  const requests = requestsView(trace)
  const line = timeline(trace, (bin) => {
    requests.select(bin)
    if (bin) location.hash = hashOf('requests')
  })
  const waiting = waitingPods(histories).filter(({ isWaiting }) => isWaiting).length
  const changed = [...histories.values()].filter(({ isChanged }) => isChanged).length
  const tabs: readonly Tab[] = [
    { id: 'overview', title: 'Overview', make: () => overview(trace) },
    { id: 'requests', title: `Requests ${data.requests.length}`, make: () => requests.view },
    { id: 'objects', title: `Objects ${changed}`, make: () => objectsView(trace) },
    { id: 'pods', title: `Why pods wait ${waiting}`, make: () => podsView(trace) },
  ]
  const { name, outcome } = data.test
  document.title = `${name || 'Trace'} · Typernetes`
  const mark = element('span', { class: `outcome ${outcome ?? ''}` }, outcome ?? 'trace')
  const header = element('header', {}, element('h1', {}, mark, name || 'Trace of a cluster'))
  const navigation = element('nav', { 'aria-label': 'Views' })
  const main = element('main', {})
  document.body.replaceChildren(header, line.root, navigation, main)
  const views = new Map<string, View>()
  const navigate = (): void => {
    const [id = '', ...parts] = partsOf(location.hash)
    const tab = tabs.find((one) => one.id === id) ?? tabs[0]!
    const view = views.get(tab.id) ?? tab.make()
    views.set(tab.id, view)
    if (main.firstChild !== view.root) main.replaceChildren(view.root)
    navigation.replaceChildren(...tabs.map((one) => tabLink(one, one === tab)))
    view.open?.(parts)
  }
  addEventListener('hashchange', navigate)
  navigate()
}

const tabLink = ({ id, title }: Tab, isCurrent: boolean): HTMLElement =>
  element('a', { href: `#${id}`, ...(isCurrent && { 'aria-current': 'page' }) }, title)

readTrace().then(show, (error: unknown) => {
  document.body.replaceChildren(element('p', { class: 'failure' }, `This trace cannot be shown: ${error}`))
})
