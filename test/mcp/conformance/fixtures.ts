/**
 * What the conformance suite expects of a server besides files: tools, prompts and resources with fixed names. They stand
 * around the handlers of the real factory, for tests only.
 */

import {
  type CallToolRequest,
  type ContentBlock,
  inputRequired,
  inputResponse,
  type InputRequiredResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Approvals } from "../../../src/surfaces/mcp/approvals.ts";
import { type Called, principalOf } from "../../../src/surfaces/mcp/mcp-workspace.ts";
import type { Extend } from "../../../src/surfaces/mcp/server.ts";

const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const sound = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const text = (words: string): ContentBlock => ({ type: "text", text: words });
const image: ContentBlock = { type: "image", data: picture, mimeType: "image/png" };
const said = (...content: ContentBlock[]): Called => ({ content });
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

interface Fixture {
  readonly ctx: ServerContext;
  readonly args: Readonly<Record<string, unknown>>;
  readonly server: Server;
  readonly approvals: Approvals;
}
type FixtureTool = (fixture: Fixture) => Called | Promise<Called>;

const form = (properties: object, message: string) => ({
  mode: "form" as const,
  message,
  requestedSchema: { type: "object" as const, properties, required: Object.keys(properties) } as never, // any form the suite wants
});
const nameForm = form({ name: { type: "string" } }, "What is your name?");
const sampling = (words: string, maxTokens: number) => ({
  messages: [{ role: "user" as const, content: { type: "text" as const, text: words } }],
  maxTokens,
});

/** An accepted form's field that is a text. */
function fieldOf(ctx: ServerContext, key: string, field: string): string | undefined {
  const response = inputResponse(ctx.mcpReq.inputResponses, key);
  const value = response.kind === "elicit" && response.action === "accept" ? response.content?.[field] : undefined;
  return typeof value === "string" ? value : undefined;
}

const requesterOf = (ctx: ServerContext) => ({ method: ctx.mcpReq.method, principal: principalOf(ctx) });

/** Throws for a state that was changed on its way. */
function stateOf(ctx: ServerContext, approvals: Approvals): object | undefined {
  const brought = ctx.mcpReq.requestState();
  return brought === undefined ? undefined : approvals.states.open(brought, requesterOf(ctx));
}

async function elicited({ ctx }: Fixture, properties: object, message: string, words: string): Promise<Called> {
  const { action, content } = await ctx.mcpReq.elicitInput(form(properties, message));
  return said(text(`${words}: action=${action}, content=${JSON.stringify(content)}`));
}

const chosen = (prefix: string, titles: readonly string[]) =>
  titles.map((title, at) => ({ const: `${prefix}${at + 1}`, title }));
const options = ["option1", "option2", "option3"];

const tools: Readonly<Record<string, FixtureTool>> = {
  test_simple_text: () => said(text("This is a simple text response for testing.")),
  test_image_content: () => said(image),
  test_audio_content: () => said({ type: "audio", data: sound, mimeType: "audio/wav" }),
  test_embedded_resource: () =>
    said({
      type: "resource",
      resource: {
        uri: "test://embedded-resource",
        mimeType: "text/plain",
        text: "This is an embedded resource content.",
      },
    }),
  test_multiple_content_types: () =>
    said(text("Multiple content types test:"), image, {
      type: "resource",
      resource: {
        uri: "test://mixed-content-resource",
        mimeType: "application/json",
        text: JSON.stringify({ test: "data", value: 123 }),
      },
    }),
  test_error_handling: () => ({
    ...said(text("This tool intentionally returns an error for testing")),
    isError: true,
  }),
  test_tool_with_logging: async ({ ctx }) => {
    for (const words of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await ctx.mcpReq.log("info", words);
      await pause();
    }
    return said(text("Logged three times"));
  },
  test_logging_tool: async ({ ctx }) => {
    await ctx.mcpReq.log("info", "heard only by those who want to");
    return said(text("done"));
  },
  test_tool_with_progress: async ({ ctx }) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
      }
      await pause();
    }
    return said(text("done"));
  },
  test_sampling: async ({ ctx, args }) => {
    const { content } = await ctx.mcpReq.requestSampling(sampling(String(args["prompt"]), 100));
    return said(text(`LLM response: ${"text" in content ? String(content.text) : ""}`));
  },
  test_elicitation: (fixture) =>
    elicited(
      fixture,
      {
        username: { type: "string", description: "User's response" },
        email: { type: "string", description: "User's email address" },
      },
      String(fixture.args["message"]),
      "User response",
    ),
  test_elicitation_sep1034_defaults: (fixture) =>
    elicited(
      fixture,
      {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      },
      "Please review",
      "Elicitation completed",
    ),
  test_elicitation_sep1330_enums: (fixture) =>
    elicited(
      fixture,
      {
        untitledSingle: { type: "string", enum: options },
        titledSingle: { type: "string", oneOf: chosen("value", ["First Option", "Second Option", "Third Option"]) },
        legacyEnum: {
          type: "string",
          enum: ["opt1", "opt2", "opt3"],
          enumNames: ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti: { type: "array", items: { type: "string", enum: options } },
        titledMulti: {
          type: "array",
          items: { anyOf: chosen("value", ["First Choice", "Second Choice", "Third Choice"]) },
        },
      },
      "Please choose",
      "Elicitation completed",
    ),
  test_missing_capability: ({ ctx }) => {
    const declared = (ctx.mcpReq.envelope as Record<string, { sampling?: object }> | undefined)?.[
      "io.modelcontextprotocol/clientCapabilities"
    ];
    if (declared?.sampling !== undefined) return said(text("sampling is there"));
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
  },
  test_streaming_elicitation: async ({ ctx }) => {
    await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken: "t", progress: 1 } });
    return inputRequired({ inputRequests: { user_name: inputRequired.elicit(nameForm) } });
  },
  test_input_required_result_elicitation: ({ ctx }) => {
    const name = fieldOf(ctx, "user_name", "name");
    return name === undefined
      ? inputRequired({ inputRequests: { user_name: inputRequired.elicit(nameForm) } })
      : said(text(`Hello, ${name}!`));
  },
  test_input_required_result_sampling: ({ ctx }) => {
    const response = inputResponse(ctx.mcpReq.inputResponses, "capital_question");
    return response.kind === "sampling"
      ? said(text(JSON.stringify(response.result.content)))
      : inputRequired({
          inputRequests: {
            capital_question: inputRequired.createMessage(sampling("What is the capital of France?", 100)),
          },
        });
  },
  test_input_required_result_list_roots: ({ ctx }) => {
    const response = inputResponse(ctx.mcpReq.inputResponses, "client_roots");
    return response.kind === "roots"
      ? said(text(response.roots.map(({ uri }) => uri).join("\n")))
      : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  },
  test_input_required_result_request_state: (fixture) => confirmed(fixture),
  test_input_required_result_tampered_state: (fixture) => confirmed(fixture),
  test_input_required_result_multiple_inputs: async ({ ctx, approvals }) => {
    const responses = ctx.mcpReq.inputResponses;
    const all =
      fieldOf(ctx, "user_name", "name") !== undefined &&
      inputResponse(responses, "greeting").kind === "sampling" &&
      inputResponse(responses, "client_roots").kind === "roots";
    if (all && stateOf(ctx, approvals) !== undefined) return said(text("all three are there"));
    return inputRequired({
      inputRequests: {
        user_name: inputRequired.elicit(nameForm),
        greeting: inputRequired.createMessage(sampling("Generate a greeting", 50)),
        client_roots: inputRequired.listRoots(),
      },
      requestState: approvals.states.seal({ step: 1 }, requesterOf(ctx)),
    });
  },
  test_input_required_result_multi_round: async ({ ctx, approvals }) => {
    const state = stateOf(ctx, approvals) as { readonly step: number; readonly name?: string } | undefined;
    const step = async (key: string, asked: ReturnType<typeof form>, next: object): Promise<InputRequiredResult> =>
      inputRequired({
        inputRequests: { [key]: inputRequired.elicit(asked) },
        requestState: approvals.states.seal(next, requesterOf(ctx)),
      });
    const name = fieldOf(ctx, "step1", "name");
    const colour = fieldOf(ctx, "step2", "color");
    if (state?.step === 2 && colour !== undefined) return said(text(`${state.name} likes ${colour}`));
    if (state?.step === 1 && name !== undefined) {
      const asked = form({ color: { type: "string" } }, "Step 2: What is your favorite color?");
      return step("step2", asked, { step: 2, name });
    }
    return step("step1", form({ name: { type: "string" } }, "Step 1: What is your name?"), { step: 1 });
  },
  test_input_required_result_capabilities: ({ ctx }) => {
    const declared = (ctx.mcpReq.envelope as Record<string, { elicitation?: object }> | undefined)?.[
      "io.modelcontextprotocol/clientCapabilities"
    ];
    return inputRequired({
      inputRequests:
        declared?.elicitation === undefined
          ? { greeting: inputRequired.createMessage(sampling("Generate a greeting", 50)) }
          : { user_name: inputRequired.elicit(nameForm) },
    });
  },
};

async function confirmed({ ctx, approvals }: Fixture): Promise<Called> {
  const response = inputResponse(ctx.mcpReq.inputResponses, "confirm");
  if (response.kind === "elicit" && stateOf(ctx, approvals) !== undefined) return said(text("state-ok"));
  return inputRequired({
    inputRequests: { confirm: inputRequired.elicit(form({ ok: { type: "boolean" } }, "Please confirm")) },
    requestState: approvals.states.seal({ step: 1 }, requesterOf(ctx)),
  });
}

const staticText = { uri: "test://static-text", name: "text", description: "A text", mimeType: "text/plain" };
const staticBinary = { uri: "test://static-binary", name: "binary", description: "A picture", mimeType: "image/png" };
const watched = { uri: "test://watched-resource", name: "watched", description: "Changes", mimeType: "text/plain" };

export const fixtures =
  (approvals: Approvals): Extend =>
  (handlers, server) => {
    server.registerCapabilities({ prompts: {}, logging: {} });
    takePrompts(server);
    // A resource that is no file: what the suite wants is that the request is understood.
    server.setRequestHandler("resources/subscribe", () => ({}));
    server.setRequestHandler("resources/unsubscribe", () => ({}));
    return {
      ...handlers,
      "tools/list": async (request, ctx) => ({
        tools: [
          ...(await handlers["tools/list"](request, ctx)).tools,
          ...Object.keys(tools).map((name) => ({
            name,
            description: `Fixture ${name}`,
            inputSchema: { type: "object" as const },
          })),
        ],
      }),
      "tools/call": (request: CallToolRequest, ctx) => {
        const { name, arguments: args = {} } = request.params;
        const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
        return tool === undefined ? handlers["tools/call"](request, ctx) : tool({ ctx, args, server, approvals });
      },
      "resources/list": async (request, ctx) => {
        const own = await handlers["resources/list"](request, ctx);
        return { ...own, resources: [staticText, staticBinary, watched, ...own.resources] };
      },
      "resources/templates/list": async (request, ctx) => ({
        resourceTemplates: [
          ...(await handlers["resources/templates/list"](request, ctx)).resourceTemplates,
          { uriTemplate: "test://template/{id}/data", name: "template" },
        ],
      }),
      "resources/read": (request, ctx) => {
        const { uri } = request.params;
        const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
        if (id !== undefined) {
          const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
          return { contents: [{ uri, mimeType: "application/json", text: data }] };
        }
        if (uri === staticText.uri)
          return {
            contents: [{ uri, mimeType: "text/plain", text: "This is the content of the static text resource." }],
          };
        if (uri === staticBinary.uri) return { contents: [{ uri, mimeType: "image/png", blob: picture }] };
        if (uri === watched.uri) return { contents: [{ uri, mimeType: "text/plain", text: "watched" }] };
        return handlers["resources/read"](request, ctx);
      },
      "completion/complete": (request, ctx) =>
        request.params.ref.type === "ref/prompt"
          ? { completion: { values: ["paris", "park", "party"], hasMore: false } }
          : handlers["completion/complete"](request, ctx),
    };
  };

function takePrompts(server: Server): void {
  const argument = (name: string) => ({ name, description: name, required: true });
  server.setRequestHandler("prompts/list", () => ({
    prompts: [
      { name: "test_simple_prompt", description: "Simple" },
      {
        name: "test_prompt_with_arguments",
        description: "Two arguments",
        arguments: [argument("arg1"), argument("arg2")],
      },
      { name: "test_prompt_with_embedded_resource", description: "A resource", arguments: [argument("resourceUri")] },
      { name: "test_prompt_with_image", description: "A picture" },
      { name: "test_input_required_result_prompt", description: "Asks first" },
    ],
  }));
  const user = (content: ContentBlock) => ({ role: "user" as const, content });
  server.setRequestHandler("prompts/get", ({ params: { name, arguments: args = {} } }, ctx) => {
    switch (name) {
      case "test_simple_prompt":
        return { messages: [user(text("This is a simple prompt for testing."))] };
      case "test_prompt_with_arguments":
        return { messages: [user(text(`Prompt with arguments: arg1='${args["arg1"]}', arg2='${args["arg2"]}'`))] };
      case "test_prompt_with_embedded_resource": {
        const uri = args["resourceUri"] ?? "";
        const resource = { uri, mimeType: "text/plain", text: "Embedded resource content for testing." };
        return {
          messages: [user({ type: "resource", resource }), user(text("Please process the embedded resource above."))],
        };
      }
      case "test_prompt_with_image":
        return { messages: [user(image), user(text("Please analyze the image above."))] };
      case "test_input_required_result_prompt": {
        const context = fieldOf(ctx, "user_context", "context");
        if (context !== undefined) return { messages: [user(text(context))] };
        const asked = form({ context: { type: "string" } }, "What context should the prompt use?");
        return inputRequired({ inputRequests: { user_context: inputRequired.elicit(asked) } });
      }
      default:
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${name}`);
    }
  });
}
