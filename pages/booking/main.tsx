import { render } from "preact";
import { Heading, Loading, Page } from "../shared/ui.tsx";

render(
  <Page>
    <Heading title={document.title}>{document.title}</Heading>
    <Loading />
  </Page>,
  document.getElementById("page") as HTMLElement,
);
