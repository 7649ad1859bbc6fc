//! The protocol's requests: what there is, calls, cancellation, how many at once.

use std::{panic::AssertUnwindSafe, sync::Arc};

use ::http::request::Parts;
use futures::{FutureExt as _, future::BoxFuture};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
    },
    service::RequestContext,
};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use super::{Offer, find_functions, list_modules, refusal::Refusal, resources, understand};
use crate::{
    conversation::Tokens,
    snapshot::Snapshots,
    understand::{UnderstandOptions, Understander},
};

const INSTRUCTIONS: &str = "\
Uptake turns what a person says into validated function calls. `understand` gives the calls that an utterance means, or \
the question to ask; `find_functions` gives the few functions that fit a request; `list_modules` tells what can be \
understood. Nothing is carried out here: the calls are yours to make.";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpOptions {
    pub offer: Offer,
    /// Never ask a model server, whatever modules and callers want.
    pub local: bool,
}

/// Who may call, and how many at once.
pub trait Admission: Send + Sync {
    /// Leave to run a call, until it is dropped; `None` if there are too many. `from` is the request that brought the call,
    /// where one did.
    fn admit<'a>(&'a self, from: Option<&'a Parts>) -> BoxFuture<'a, Option<Box<dyn Send + 'a>>>;
}

/// So many calls, whoever makes them, and nobody waits.
impl Admission for Semaphore {
    fn admit<'a>(&'a self, _: Option<&'a Parts>) -> BoxFuture<'a, Option<Box<dyn Send + 'a>>> {
        let permit = self.try_acquire().ok().map(|permit| Box::new(permit) as Box<dyn Send + 'a>);
        std::future::ready(permit).boxed()
    }
}

/// The tools, ready to be served on any transport. Cheap to clone; clones share.
#[derive(Clone)]
pub struct McpServer(Arc<Shared>);

pub(super) struct Shared {
    pub(super) snapshots: Snapshots,
    pub(super) understander: Understander,
    /// What a turn does where neither call nor module says otherwise.
    pub(super) turns: UnderstandOptions,
    /// Conversations are their callers' to keep.
    pub(super) tokens: Tokens,
    pub(super) options: McpOptions,
    tools: Vec<Tool>,
    admission: Arc<dyn Admission>,
}

impl McpServer {
    /// A call without leave is refused; whoever else serves turns may give it of the same.
    #[must_use]
    pub fn new(
        snapshots: Snapshots,
        understander: Understander,
        turns: UnderstandOptions,
        tokens: Tokens,
        options: McpOptions,
        admission: Arc<dyn Admission>,
    ) -> Self {
        let tools = vec![
            find_functions::definition(&options, &turns),
            understand::definition(&options),
            list_modules::definition(),
        ];
        Self(Arc::new(Shared { snapshots, understander, turns, tokens, options, tools, admission }))
    }

    /// Loads every module that is offered, one after the other, so that no call has to wait for it. One that fails is
    /// told in the log and by whoever calls for it.
    pub async fn warm_up(&self) {
        for name in self.0.options.offer.names(&self.0.snapshots) {
            // A failure is logged where it happens, and told again to whoever asks for the module.
            drop(self.0.snapshots.fresh(&name).await);
        }
    }
}

/// A tool of ours: it reads, changes nothing, and reaches nothing but what is configured.
pub(super) fn tool(
    name: &'static str,
    title: &str,
    description: &'static str,
    input: Map<String, Value>,
    output: Map<String, Value>,
) -> Tool {
    let annotations =
        ToolAnnotations::with_title(title).read_only(true).destructive(false).idempotent(true).open_world(false);
    Tool::new(name, description, input)
        .with_title(title)
        .with_raw_output_schema(Arc::new(output))
        .with_annotations(annotations)
}

/// An answer for programs, and in words for whoever reads only those.
pub(super) fn answered(words: String, answer: &impl Serialize) -> Result<CallToolResult, Refusal> {
    let structured = serde_json::to_value(answer)
        .map_err(|error| Refusal::failure("the service failed; its log tells why", &error))?;
    let mut result = CallToolResult::structured(structured);
    result.content = vec![ContentBlock::text(words)];
    Ok(result)
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("uptake", env!("CARGO_PKG_VERSION"))
            .with_title("Uptake")
            .with_description(env!("CARGO_PKG_DESCRIPTION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_resources().build())
            .with_server_info(about)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { name, arguments, .. } = request;
        let call = match name.as_ref() {
            find_functions::NAME => find_functions::call(&self.0, arguments).boxed(),
            understand::NAME => understand::call(&self.0, arguments).boxed(),
            list_modules::NAME => list_modules::call(&self.0, arguments).boxed(),
            unknown => {
                let shown: String = unknown.chars().take(100).collect();
                return Err(ErrorData::invalid_params(format!("Unknown tool: {shown}"), None));
            }
        };
        let from = context.extensions.get::<Parts>();
        let admitted = async {
            let Some(_leave) = self.0.admission.admit(from).await else { return Err(Refusal::busy()) };
            AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| Err(Refusal::panicked()))
        };
        let result = tokio::select! {
            result = admitted => result,
            // The call is dropped, and with it all that it waits for. Nobody reads this answer.
            () = context.ct.cancelled() => Err(Refusal::new("the call was cancelled")),
        };
        Ok(result.unwrap_or_else(Into::into).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list(&self.0)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&self.0, &request.uri).await.map(Into::into)
    }
}
